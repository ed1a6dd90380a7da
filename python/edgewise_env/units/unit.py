"""What units have in common: their clients, their time, and their end."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Callable

from ..examples import Examples
from ..failures import crossing
from ..library import Library
from ..calls.model_clients import ModelClients
from ..outbox import Outbox
from ..calls.relay import Caller, Callers, Relays
from .rollouts import Rollouts

# How long a unit that was ended may clean up before it is said to be over; the engine gives up a conversation that takes 10 s.
UNWIND_S = 7.0
# How often it is said that a unit goes on: the engine takes one of which nothing is heard for ten minutes for stuck.
ALIVE_S = 120.0


@dataclass(frozen=True)
class UnitHost:
    """What the units of one conversation stand on."""

    environment: Any
    library: Library
    examples: Examples
    outbox: Outbox
    relays: Relays
    callers: Callers
    clients: ModelClients
    loop: asyncio.AbstractEventLoop


class Deadline:
    """The time that a unit has: waiting for the permit of its first call is not its own."""

    def __init__(self, loop: asyncio.AbstractEventLoop, milliseconds: float | None):
        self._loop = loop
        self._seconds = None if milliseconds is None else milliseconds / 1000
        self._late: Callable[[], None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._has_permit = False
        self._asks = False

    def begin(self, late: Callable[[], None]) -> None:
        if self._seconds is not None:
            self._late = late
            self._timer = self._loop.call_later(self._seconds, self._over)

    def asks(self) -> None:
        """A call begins: until it is permitted no time passes."""
        self._asks = True

    def permitted(self) -> None:
        if self._has_permit or self._late is None:
            return
        self._has_permit = True
        self.end()
        self._timer = self._loop.call_later(self._seconds or 0, self._over)

    def _over(self) -> None:
        if self._late is not None and (self._has_permit or not self._asks):
            self._late()

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Unit(ABC):
    """One unit of a conversation."""

    def __init__(self, host: UnitHost, order: dict[str, Any]):
        self.host = host
        self.order = order
        self.number: int = order["unit"]
        self.rollouts = Rollouts([], self._nothing)
        self.turn = asyncio.Event()
        self.all_generated = False
        self.deadline = Deadline(host.loop, order["deadline_ms"])
        self.task: asyncio.Task[None] | None = None
        self._callers: list[Caller] = []
        self._timers: list[asyncio.TimerHandle] = []

    async def _nothing(self) -> None:
        return None

    @abstractmethod
    async def work(self) -> None:
        """Plays it, and says all that is to be said but for a failure."""

    @abstractmethod
    def aborted(self) -> None:
        """Says that it was ended."""

    async def run(self) -> None:
        """Plays it. Whatever happens is said."""
        self._alive()
        try:
            await self.work()
        except asyncio.CancelledError:
            await self._unwound()
            self.aborted()
        except Exception as error:
            await self.rollouts.cancel()
            self.put({"type": "unit_failed", "unit": self.number, "error": crossing(error)})
        finally:
            self.deadline.end()
            for timer in self._timers:
                timer.cancel()
            for caller in self._callers:
                self.host.callers.remove(caller)

    async def _unwound(self) -> None:
        cleaning = asyncio.ensure_future(self.rollouts.cancel())
        await asyncio.wait({cleaning}, timeout=UNWIND_S)

    def abort(self, signal: int) -> None:
        """One of its signals was aborted. What is generated may be scored where only generating ends."""
        if self.task is None or (signal != self.order["stops"] and self.all_generated):
            return
        self.task.cancel()

    def put(self, message: dict[str, Any]) -> None:
        self.host.outbox.put(message)

    def later(self, seconds: float, work: Callable[[], None]) -> None:
        """Does `work` in a while, unless the unit is over then."""
        self._timers.append(self.host.loop.call_later(seconds, work))

    def _alive(self) -> None:
        def say() -> None:
            self.put({"type": "turn", "unit": self.number, "rollout": self._first, "text": None})
            self._alive()

        self._timers[:] = [self.host.loop.call_later(ALIVE_S, say)]

    @property
    def _first(self) -> int:
        named = self.order.get("rollouts") or [row["rollout"] for row in self.order.get("rows", [])]
        return named[0] if named else 0

    def client(self) -> tuple[Caller, Any]:
        """A client of the model under evaluation for this unit, with an address of its own."""
        host, order = self.host, self.order
        caller = Caller(host.relays, self.number, order["model"], self.deadline)
        host.callers.add(caller)
        self._callers.append(caller)
        return caller, host.clients.of(caller, order["client_type"], order["state_keys"])
