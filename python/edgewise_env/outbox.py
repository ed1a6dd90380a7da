"""Messages on their way to the other side."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Callable

# Rounds of the event loop in which messages that belong together come: rollouts that were answered together go on in step.
ROUNDS = 8
# Characters of one batch, about.
BATCH_CHARACTERS = 4 * 1024 * 1024


def encoded(message: dict[str, Any]) -> str:
    """A message as JSON, in ASCII. Raises `ValueError` or `TypeError` for what is none."""
    return json.dumps(message, allow_nan=False, separators=(",", ":"))


class Outbox:
    """Sends messages in their order and in batches, since each batch costs much more than a message. Of one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, send: Callable[[bytes], None]):
        self._loop = loop
        self._send = send
        self._queue: list[str] = []
        self._rounds = 0
        self._closed = False

    def put(self, message: dict[str, Any]) -> None:
        """Sends `message` with all that comes in this moment."""
        self.put_text(encoded(message))

    def put_text(self, message: str) -> None:
        """Sends a message that is JSON already."""
        if self._closed:
            return
        self._queue.append(message)
        if self._rounds == 0:
            self._rounds = ROUNDS
            self._loop.call_soon(self._round)

    def _round(self) -> None:
        self._rounds -= 1
        if self._rounds == 0:
            self.flush()
        else:
            self._loop.call_soon(self._round)

    def flush(self) -> None:
        """Sends what is there."""
        queue, self._queue = self._queue, []
        begin, characters = 0, 0
        for at, message in enumerate(queue):
            if at > begin and characters + len(message) > BATCH_CHARACTERS:
                self._send_batch(queue[begin:at])
                begin, characters = at, 0
            characters += len(message)
        if begin < len(queue):
            self._send_batch(queue[begin:])

    def _send_batch(self, messages: list[str]) -> None:
        self._send(f"[{','.join(messages)}]\n".encode("ascii"))

    def close(self) -> None:
        """Nothing is sent any more."""
        self._closed = True
        self._queue = []
