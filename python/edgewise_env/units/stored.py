"""Rollouts that have their rows: scored again, or together with others of their example."""

from __future__ import annotations

import asyncio
import json
import time
from copy import deepcopy
from typing import Any

from ..failures import said
from .rollouts import MARK
from .unit import Unit
from .unit_end import code_of

# Of a row, what its state has under the same name.
_TAKEN = ("is_completed", "is_truncated", "stop_condition")
# Keys that scoring itself makes, and fields that an example may lack: that they are not there is no lack of the row.
_MADE_BY_SCORING = ("answer", "info", "judge_response", "advantage", "usage_tracker", "usage", "token_usage")
# Of a step, what is of the answer and in no row.
_OF_ANSWERS = ("response", "tokens", "extras")


class Lacks:
    """What was asked of rollouts whose rows do not hold it."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def watch(self, state: Any) -> Any:
        """`state`, noting the keys that are asked for and are not there: a score that needed one is none."""
        names = self.names
        kind = type(state)

        class Watched(kind):  # type: ignore[misc, valid-type]
            def __getitem__(self, key: str) -> Any:
                try:
                    return super().__getitem__(key)
                except KeyError:
                    if key not in _MADE_BY_SCORING:
                        names.add(key)
                    raise

        watched = Watched()
        dict.update(watched, state)
        return watched

    def step(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A step of a trajectory of which no answer of a server is there."""
        names = self.names

        class Step(dict):  # type: ignore[type-arg]
            def __getitem__(self, key: str) -> Any:
                if key in _OF_ANSWERS:
                    names.add("trajectory")
                return super().__getitem__(key)

            def get(self, key: str, default: Any = None) -> Any:
                return self[key] if key in self else default

        return Step(fields)


async def state_of(unit: Unit, example: dict[str, Any], line: str, columns: list[str], lacks: Lacks) -> Any:
    """The state of a rollout from its row, without scores. Its trajectory has the messages, and no answers of servers."""
    row = json.loads(line)
    _, client = unit.client()
    state = await unit.host.environment.init_state(deepcopy(example), client, unit.order["model"], unit.order["sampling_args"])
    for name in (*_TAKEN, *columns):
        if name in row:
            state[name] = row[name]
    state["completion"] = _messages(unit, row.get("completion"))
    state["prompt"] = _messages(unit, row.get("prompt")) or state["prompt"]
    error = row.get("error")
    state["error"] = None if isinstance(error, dict) and error.get("code") == "scorer_error" else error
    if "trajectory" not in columns:
        state["trajectory"] = _trajectory(state, lacks)
    return lacks.watch(state)


def _messages(unit: Unit, messages: Any) -> Any:
    normalize = unit.host.library.normalize_messages
    return messages if messages is None or normalize is None else normalize(messages, field_name="row")


def _trajectory(state: Any, lacks: Lacks) -> list[dict[str, Any]]:
    before = list(state["prompt"])
    steps = []
    for message in state["completion"] or []:
        if (message.get("role") if isinstance(message, dict) else message.role) == "assistant":
            step = {"prompt": list(before), "completion": [message], "response": None, "tokens": None, "reward": None, "advantage": None}
            steps.append(lacks.step({**step, "is_truncated": False, "trajectory_id": state["trajectory_id"], "extras": {}}))
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


def rescored(unit: int, rollout: int, state: Any, lacks: Lacks, columns: list[str], seconds: tuple[float, float]) -> dict[str, Any]:
    """The message with the new scores of a rollout that has its row."""
    begun, over = seconds
    took = (over - begun) * 1000
    scores = {
        "reward": state.get("reward"),
        "metrics": state.get("metrics") or {},
        "advantage": state.get("advantage"),
        "error": _error(state.get("error")),
        "timing": {"generation_ms": 0, "scoring_ms": took, "total_ms": took, "start_time": begun},
        "scoring": {"start": begun * 1000, "end": over * 1000},
        "columns": {name: state[name] for name in columns if name in state},
        "lacks": sorted(lacks.names),
        "state": None,
    }
    return {"type": "rescored", "unit": unit, "rollout": rollout, "scores": scores}


def _error(error: Any) -> dict[str, Any] | None:
    """A rollout's error, as a state of the other side has it."""
    if error is None:
        return None
    if isinstance(error, BaseException):
        return {"code": code_of(error) or "scorer_error", "message": said(error), "chain": [{"name": type(error).__name__, "message": said(error)}]}
    return {"code": error.get("code", "environment_error"), "message": str(error.get("error_chain_repr", "")), "chain": []}


async def score_beside(unit: Unit, example: dict[str, Any], sampling_args: dict[str, Any], kept: dict[int, str], columns: list[str]) -> list[Any]:
    """Plays the rollouts that are missing, and scores them together with those that have rows. Gives the outputs of the former."""
    environment, order = unit.host.environment, unit.order
    _, shared = unit.client()
    setattr(shared, MARK, unit.rollouts)
    plays = (environment.rollout(deepcopy(example), shared, order["model"], sampling_args) for _ in unit.rollouts.all)
    new = await asyncio.gather(*plays)
    lacks = Lacks()
    old = {index: await state_of(unit, example, line, columns, lacks) for index, line in kept.items()}
    by_index = {**dict(zip((each.index for each in unit.rollouts.all), new)), **old}
    begun = time.time()
    await score(unit, [by_index[index] for index in order["rollouts"]], False)
    seconds = (begun, time.time())
    for state in new:
        if hasattr(state["timing"], "scoring"):
            state["timing"].scoring.start, state["timing"].scoring.end = seconds
        await environment.rubric.cleanup(state)
    for index, state in old.items():
        unit.put(rescored(unit.number, index, state, lacks, columns, seconds))
    return [unit.host.library.state_to_output(state, order["columns"]) for state in new]


class ScoredUnit(Unit):
    """One `score`."""

    async def work(self) -> None:
        order = self.order
        example = self.host.examples.original(order["input"])
        lacks, columns = Lacks(), [name for name in order["columns"] if name not in order["forgets"]]
        states = [await state_of(self, example, row["line"], columns, lacks) for row in order["rows"]]
        self.all_generated = True
        if order["waits_for_turn"]:
            self.put({"type": "generated_all", "unit": self.number})
            await self.turn.wait()
        begun = time.time()
        await score(self, states, order["independent"])
        seconds = (begun, time.time())
        for row, state in zip(order["rows"], states):
            self.put(rescored(self.number, row["rollout"], state, lacks, order["columns"], seconds))
        self.put({"type": "scored_rows", "unit": self.number, "aborted": False})

    def aborted(self) -> None:
        self.put({"type": "scored_rows", "unit": self.number, "aborted": True})
