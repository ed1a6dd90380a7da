"""Rollouts that have their rows: scored again, or together with others of their example."""

from __future__ import annotations

import asyncio
import json
import time
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from .unit import Unit
from .unit_end import code_of

if TYPE_CHECKING:
    from .playing import PlayedUnit

# Of a row, what its state has under the same name.
_TAKEN = ("completion", "is_completed", "is_truncated", "stop_condition")


async def state_of(unit: Unit, example: dict[str, Any], line: str, columns: list[str]) -> Any:
    """The state of a rollout from its row, without scores. Its trajectory has the messages, and no answers of servers."""
    row = json.loads(line)
    _, client = unit.client()
    state = await unit.host.environment.init_state(deepcopy(example), client, unit.order["model"], unit.order["sampling_args"])
    for name in (*_TAKEN, *columns):
        if name in row:
            state[name] = row[name]
    state["completion"] = _messages(unit, row.get("completion"))
    state["prompt"] = _messages(unit, row.get("prompt")) or state["prompt"]
    state["error"] = row.get("error")
    if "trajectory" not in columns:
        state["trajectory"] = _trajectory(state)
    return state


def _messages(unit: Unit, messages: Any) -> Any:
    normalize = unit.host.library.normalize_messages
    return messages if messages is None or normalize is None else normalize(messages, field_name="row")


def _trajectory(state: Any) -> list[dict[str, Any]]:
    before = list(state["prompt"])
    steps = []
    for message in state["completion"] or []:
        if (message.get("role") if isinstance(message, dict) else message.role) == "assistant":
            step = {"prompt": list(before), "completion": [message], "response": None, "tokens": None, "reward": None, "advantage": None}
            steps.append({**step, "is_truncated": False, "trajectory_id": state["trajectory_id"], "extras": {}})
        before.append(message)
    return steps


async def score(unit: Unit, states: list[Any], independent: bool) -> None:
    """Gives states their scores, with the library's rubric."""
    environment = unit.host.environment
    rubric = environment.rubric
    if not environment.score_rollouts:
        await rubric.dummy_score_group(states)
    elif independent:
        await asyncio.gather(*(rubric.score_rollout(state) for state in states))
    else:
        await rubric.score_group(states)


def rescored(unit: int, rollout: int, state: Any, line: str, columns: list[str], seconds: tuple[float, float]) -> dict[str, Any]:
    """The message with the new scores of a rollout that has its row."""
    begun, over = seconds
    took = (over - begun) * 1000
    timing = {"generation_ms": 0, "scoring_ms": took, "total_ms": took, "start_time": begun}
    error = state.get("error")
    scores = {
        "reward": state.get("reward"),
        "metrics": state.get("metrics") or {},
        "advantage": state.get("advantage"),
        "error": error if not isinstance(error, BaseException) else _error(error),
        "timing": timing,
        "scoring": {"start": begun * 1000, "end": over * 1000},
        "columns": {name: state.get(name) for name in columns if name in state},
        "lacks": [],
        "state": None,
    }
    return {"type": "rescored", "unit": unit, "rollout": rollout, "scores": scores}


def _error(error: BaseException) -> dict[str, Any]:
    return {"code": code_of(error) or "scorer_error", "message": str(error), "chain": [{"name": type(error).__name__, "message": str(error)}]}


async def score_beside(unit: "PlayedUnit", example: dict[str, Any], kept: dict[int, str], columns: list[str]) -> list[Any]:
    """Plays the rollouts that are missing, and scores them together with those that have rows. Gives the outputs of the former."""
    environment, order = unit.host.environment, unit.order
    _, shared = unit.client()
    from .rollouts import MARK

    setattr(shared, MARK, unit.rollouts)
    plays = (environment.rollout(deepcopy(example), shared, order["model"], unit.sampling_args) for _ in unit.rollouts.all)
    new = await asyncio.gather(*plays)
    old = {index: await state_of(unit, example, line, columns) for index, line in kept.items()}
    by_index = {**dict(zip((each.index for each in unit.rollouts.all), new)), **old}
    begun = time.time()
    await score(unit, [by_index[index] for index in order["rollouts"]], False)
    seconds = (begun, time.time())
    for state in new:
        if hasattr(state["timing"], "scoring"):
            state["timing"].scoring.start, state["timing"].scoring.end = seconds
        await environment.rubric.cleanup(state)
    for index, state in old.items():
        unit.put(rescored(unit.number, index, state, kept[index], columns, seconds))
    return [unit.host.library.state_to_output(state, order["columns"]) for state in new]


class ScoredUnit(Unit):
    """One `score`."""

    async def work(self) -> None:
        order = self.order
        example = self.host.examples.original(order["input"])
        states = [await state_of(self, example, row["line"], order["columns"]) for row in order["rows"]]
        self.all_generated = True
        if order["waits_for_turn"]:
            self.put({"type": "generated_all", "unit": self.number})
            await self.turn.wait()
        begun = time.time()
        await score(self, states, order["independent"])
        seconds = (begun, time.time())
        for row, state in zip(order["rows"], states):
            self.put(rescored(self.number, row["rollout"], state, row["line"], order["columns"], seconds))
        self.put({"type": "scored_rows", "unit": self.number, "aborted": False})

    def aborted(self) -> None:
        self.put({"type": "scored_rows", "unit": self.number, "aborted": True})
