"""One conversation over HTTP: batches in by numbered requests, batches out down one response. Of the server's thread."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from typing import Any, Callable

from .outbox import Outbox
from .session import Session

MakeSession = Callable[[Outbox, Callable[[], None]], Session]

# How often something goes down the response, and how long nothing may come up: DESIGN of the transport, docs/environment-protocol.md. Seconds.
BEAT_S = 5.0
SILENCE_S = 60.0
# What may wait for a reader that does not read.
MOST_WAITING = 256 * 1024 * 1024


class Conversation:
    """The two directions, and where they meet the session, which `make_session` makes in the loop of the rollouts when the first batch is there."""

    def __init__(self, rollouts: asyncio.AbstractEventLoop, make_session: MakeSession):
        self.id = secrets.token_urlsafe(24)
        self._rollouts = rollouts
        self._loop = asyncio.get_running_loop()
        self._out: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._waiting = 0
        self._taken = 0
        self._make_session = make_session
        self._session: Session | None = None
        self.heard_at = time.monotonic()
        self.is_over = False

    @property
    def units(self) -> int:
        """Units that are open."""
        return 0 if self._session is None else self._session.units

    def _deliver(self, batch: list[dict[str, Any]]) -> None:
        """Of the rollouts' thread."""
        if self.is_over:
            return
        if self._session is None:
            self._session = self._make_session(Outbox(self._rollouts, self._send), lambda: self._tell(self.end))
        self._session.take(batch)

    def _tell(self, work: Callable[..., None], *given: Any) -> None:
        """Has the server's thread do something; it may be gone."""
        try:
            self._loop.call_soon_threadsafe(work, *given)
        except RuntimeError:
            pass

    def _send(self, batch: bytes) -> None:
        """Of the rollouts' thread."""
        self._tell(self._queue, batch)

    def _queue(self, batch: bytes) -> None:
        self._waiting += len(batch)
        if self._waiting > MOST_WAITING:
            self.end()
        elif not self.is_over:
            self._out.put_nowait(batch)

    async def next(self) -> bytes | None:
        """What goes down the response next: a beat where nothing else does. Null at the end."""
        try:
            batch = await asyncio.wait_for(self._out.get(), BEAT_S)
        except asyncio.TimeoutError:
            return b"[]\n"
        if batch is not None:
            self._waiting -= len(batch)
        return batch

    def take(self, number: int, body: bytes) -> str | None:
        """Takes batch `number`, or takes it for one that came before. Returns what is wrong with it, if anything."""
        self.heard_at = time.monotonic()
        if number <= self._taken:
            return None
        if number != self._taken + 1:
            return f"batch {number} came after batch {self._taken}"
        try:
            batch: Any = json.loads(body)
        except ValueError as problem:
            return f"batch {number} is no JSON: {problem}"
        if not isinstance(batch, list) or not all(isinstance(message, dict) and "type" in message for message in batch):
            return f"batch {number} is no list of messages"
        self._taken = number
        if batch:
            self._rollouts.call_soon_threadsafe(self._deliver, batch)
        return None

    def is_silent(self) -> bool:
        """Whether nothing was heard for as long as may be."""
        return time.monotonic() - self.heard_at > SILENCE_S

    def end(self) -> None:
        """Nobody is there any more, or nobody is to be: the response ends."""
        if self.is_over:
            return
        self.is_over = True
        self._out.put_nowait(None)
        self._rollouts.call_soon_threadsafe(self._finish)

    def _finish(self) -> None:
        """Of the rollouts' thread."""
        if self._session is not None:
            self._rollouts.create_task(self._session.end())
