"""Units that are played: all rollouts of one example, with the library's own `run_group` or `run_rollout`."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from typing import Any

from .rollouts import MARK, EnvironmentFailed, Rollout, Rollouts, ScorerFailed, failure_of
from .stored import score_beside
from .unit import Unit
from .unit_end import ended, fatal_of, row_of

# Scoring that takes no longer is nothing to tell of. Seconds.
QUICK_S = 0.25


class PlayedUnit(Unit):
    """One `play`."""

    async def work(self) -> None:
        order, host = self.order, self.host
        example = host.examples.original(order["input"])
        self.rollouts = Rollouts([self._rollout(index) for index in order["rollouts"]], self._generated)
        self.sampling_args = {**deepcopy(host.environment.sampling_args), **order["sampling_args"]}
        self.deadline.begin(self.rollouts.late)
        stored = order["stored"]
        kept = {row["rollout"]: row["line"] for row in stored["rows"]} if stored is not None else {}
        if kept:
            self.rollouts.all = [each for each in self.rollouts.all if each.index not in kept]
        try:
            if kept:
                outputs = await score_beside(self, example, self.sampling_args, kept, stored["columns"])
            elif order["independent"]:
                outputs = await self._alone(example)
            else:
                outputs = await self._together(example)
        except Exception as error:
            await self.rollouts.cancel()
            outputs = self._without_scores(error)
        self.deadline.end()
        self._tell(outputs)

    def _rollout(self, index: int) -> Rollout:
        caller, client = self.client()
        return Rollout(index, caller, client)

    async def _together(self, example: dict[str, Any]) -> list[Any]:
        """All rollouts and their scores, as the library plays a group."""
        host, order = self.host, self.order
        _, shared = self.client()
        setattr(shared, MARK, self.rollouts)
        inputs = [deepcopy(example) for _ in self.rollouts.all]
        return await host.environment.run_group(
            inputs, shared, order["model"], self.sampling_args, max_retries=order["max_retries"], state_columns=order["columns"]
        )

    async def _alone(self, example: dict[str, Any]) -> list[Any]:
        """Each rollout by itself. One that breaks outside of its playing leaves the others to end first."""
        host, order = self.host, self.order

        async def one(rollout: Rollout) -> Any:
            _, shared = self.client()
            setattr(shared, MARK, Rollouts([rollout], self._generated))
            return await host.environment.run_rollout(
                deepcopy(example), shared, order["model"], self.sampling_args, max_retries=order["max_retries"], state_columns=order["columns"]
            )

        outputs = await asyncio.gather(*(one(rollout) for rollout in self.rollouts.all), return_exceptions=True)
        return [self._failed(rollout, output) if isinstance(output, Exception) else output for rollout, output in zip(self.rollouts.all, outputs)]

    async def _generated(self) -> None:
        """A rollout is generated. The last one has the unit wait for its turn to be scored, where it is to."""
        if not all(each.is_generated for each in self.rollouts.all):
            if self.order["waits_for_turn"]:
                await self.turn.wait()
            return
        self.all_generated = True
        self.deadline.end()
        if self.order["waits_for_turn"] and not self.turn.is_set():
            self.put({"type": "generated_all", "unit": self.number})
            await self.turn.wait()
        self.later(QUICK_S, lambda: self.put({"type": "scoring", "unit": self.number, "rollout": None}))

    def _without_scores(self, error: Exception) -> list[Any]:
        """What is generated where scoring broke: rows that can be scored again. Raises `error` where not all is."""
        if not self.rollouts.all or not all(each.is_generated for each in self.rollouts.all):
            raise error
        return [self._failed(rollout, error) for rollout in self.rollouts.all]

    def _failed(self, rollout: Rollout, error: Exception) -> Any:
        if not rollout.is_generated:
            raise error
        state = rollout.state
        if state.get("error") is None:
            # The row itself can not be written where there are scores already.
            kind = ScorerFailed if state.get("reward") is None else EnvironmentFailed
            state["error"] = failure_of(kind, error)
        state["reward"], state["metrics"] = None, {}
        return self.host.library.state_to_output(state, [])

    def _tell(self, outputs: list[Any]) -> None:
        states = [each.state for each in self.rollouts.all if each.state is not None]
        fatal = fatal_of(states, [each.caller.refusal for each in self.rollouts.all])
        if fatal is None:
            for rollout, output in zip(self.rollouts.all, outputs):
                error = None if rollout.state is None else rollout.state.get("error")
                self.put(ended(self.number, rollout.index, row_of(self.host.library, output), error))
        self.put({"type": "played", "unit": self.number, "fatal": fatal, "aborted": False})

    def aborted(self) -> None:
        self.put({"type": "played", "unit": self.number, "fatal": None, "aborted": True})
