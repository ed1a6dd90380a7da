"""The rollouts of a unit, kept apart: each has its own client, and its own failure."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Awaitable, Callable

from ..failures import place_of, said
from ..calls.relay import Caller

# The attribute of a client that leads `rollout` to the unit which it is played in.
MARK = "_edgewise_unit"


class RolloutFailed(Exception):
    """What broke a rollout outside of the library's own errors. Rows show its name and its words."""

    code = "environment_error"


def _failure(name: str, code: str) -> type[RolloutFailed]:
    return type(name, (RolloutFailed,), {"code": code})


# Named as the engine names what they are (ROLLOUT_ERRORS in src/errors/codes.ts).
EnvironmentFailed = _failure("EnvironmentError", "environment_error")
ScorerFailed = _failure("ScorerError", "scorer_error")
TimeIsOver = _failure("TimeoutError", "timeout")


def failure_of(kind: type[RolloutFailed], error: BaseException) -> RolloutFailed:
    """`error` as a failure of that kind, which says where in the environment's code it was raised."""
    place = place_of(error)
    failed = kind(f"{type(error).__name__}: {said(error)}" + ("" if place is None else f" ({place})"))
    failed.__cause__ = error
    return failed


@dataclass(eq=False)
class Rollout:
    """One rollout of a unit."""

    index: int
    caller: Caller
    client: Any
    task: asyncio.Task[Any] | None = None
    state: Any = None
    is_late: bool = False

    @property
    def is_generated(self) -> bool:
        return self.state is not None


class Rollouts:
    """The rollouts of one unit. The library plays them with one client, `shared`; each is led to its own here."""

    def __init__(self, rollouts: list[Rollout], on_generated: Callable[[], Awaitable[None]]):
        self.all = rollouts
        self._on_generated = on_generated
        self._begun = 0

    def next(self) -> Rollout:
        """The rollout that begins now. The library begins them in the order of its inputs, and all again where it tries again."""
        rollout = self.all[self._begun % len(self.all)]
        self._begun += 1
        return rollout

    async def play(self, rollout: Rollout, environment: Any, play: Callable[..., Awaitable[Any]], asked: tuple[Any, ...]) -> Any:
        """Plays it with its own client, and gives its state: one with the failure where it broke."""
        rollout.state = None
        rollout.task = asyncio.current_task()
        example, model, sampling_args = asked
        try:
            state = await play(example, rollout.client, model, sampling_args)
        except asyncio.CancelledError:
            if not rollout.is_late:
                raise
            if hasattr(rollout.task, "uncancel"):
                rollout.task.uncancel()  # type: ignore[union-attr]
            state = await self._failed(environment, rollout, asked, TimeIsOver("the unit was not done in time"))
        except Exception as error:
            state = await self._failed(environment, rollout, asked, failure_of(EnvironmentFailed, error))
        rollout.state = state
        await self._on_generated()
        return state

    async def _failed(self, environment: Any, rollout: Rollout, asked: tuple[Any, ...], error: RolloutFailed) -> Any:
        example, model, sampling_args = asked
        try:
            state = await environment.init_state(example, rollout.client, model, sampling_args)
        except Exception:
            raise error from error.__cause__
        state["completion"] = []
        state["is_completed"] = True
        state["stop_condition"] = "has_error"
        state["error"] = error
        return state

    def late(self) -> None:
        """The time of the unit is over: what is not generated ends so."""
        for rollout in self.all:
            if rollout.task is not None and not rollout.is_generated and not rollout.task.done():
                rollout.is_late = True
                rollout.task.cancel()

    async def cancel(self) -> None:
        """Ends what still runs, and waits until it has cleaned up."""
        tasks = [each.task for each in self.all if each.task is not None and not each.task.done() and each.task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def keep_apart(environment: Any) -> None:
    """Has `environment`, and those that it is a group of, lead each rollout to its own client."""
    for each in getattr(environment, "envs", None) or [environment]:
        if each is not environment:
            keep_apart(each)
            continue
        play = each.rollout

        def rollout(input: Any, client: Any, model: Any, sampling_args: Any = None, *, play: Any = play, each: Any = each) -> Awaitable[Any]:
            unit: Rollouts | None = getattr(client, MARK, None)
            if unit is None:
                return play(input, client, model, sampling_args)
            return unit.play(unit.next(), each, play, (input, model, sampling_args))

        each.rollout = rollout
