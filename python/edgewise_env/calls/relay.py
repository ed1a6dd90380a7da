"""Model calls that the other side makes: the environment's code asks, a message carries the request as it is, and the answer comes back."""

from __future__ import annotations

import asyncio
import json
import secrets
from dataclasses import dataclass, field
from typing import Any, Callable, Protocol

from ..outbox import Outbox

# Where a request may go, below the base URL (RELAY_ROUTES in src/environment-protocol/values.ts).
ROUTES = ("chat/completions", "completions", "responses", "messages", "embeddings")
# Calls under way for one rollout: docs/environment-protocol.md. Others wait here.
MOST_CALLS = 64
# Characters of a request. A line of a conversation has 12 Mi at most (MAX_BATCH_CHARACTERS in src/limits.ts), and this in it.
MOST_CHARACTERS = 11 * 1024 * 1024
# Codes after which every further call would be refused as well (ROLLOUT_ERRORS in src/errors/codes.ts, `fatal`).
FATAL = ("auth_failed", "payment_required", "insufficient_quota", "model_not_found", "prompt_logprobs_unsupported") + (
    # Not sent: a budget holds for the run (docs/budgets.md).
    "over_budget",
    "unknown_price",
    "unbounded_cost",
)


@dataclass(frozen=True)
class Reply:
    """What a call was answered: a server's answer, or an error beside or in place of it."""

    status: int
    content_type: str
    text: str
    error: dict[str, Any] | None = None

    @property
    def ok(self) -> bool:
        return self.error is None and 200 <= self.status < 300


# Statuses that say what a code says, where no server said anything.
_STATUS = {
    "auth_failed": 401,
    "payment_required": 402,
    "over_budget": 402,
    "unknown_price": 402,
    "unbounded_cost": 402,
    "insufficient_quota": 429,
    "model_not_found": 404,
    "bad_request": 400,
    "rate_limited": 429,
    "request_timeout": 504,
    "connect_timeout": 504,
}


def reply_of(answer: dict[str, Any]) -> Reply:
    """The reply that an `answer` carries."""
    told, error = answer.get("reply"), answer.get("error")
    if told is not None:
        return Reply(told["status"], told["content_type"], told["text"], error)
    error = error or {"name": "Error", "message": "a model call was answered with nothing", "code": "internal", "causes": []}
    message = error["message"]
    if error.get("overlong"):
        # What the library looks for in a refusal, to tell a prompt that is too long from other bad requests.
        message = f"{message} (prompt is too long: it exceeds the model's context length)"
    status = 400 if error.get("overlong") else _STATUS.get(error.get("code") or "", 502)
    body = {"error": {"message": message, "type": error["name"], "code": error.get("code")}}
    return Reply(status, "application/json", json.dumps(body), error)


class Relays:
    """The calls of one conversation."""

    def __init__(self, loop: asyncio.AbstractEventLoop, outbox: Outbox):
        self._loop = loop
        self._outbox = outbox
        self._pending: dict[int, tuple[asyncio.Future[Reply], Callable[[], None]]] = {}
        self._calls = 0

    async def ask(self, unit: int, route: str, body: str, state_values: dict[str, str], on_permit: Callable[[], None]) -> Reply:
        """Asks for `body`, which is JSON, to be sent to `route`. A caller that is cancelled cancels the call."""
        self._calls += 1
        call = self._calls
        answer: asyncio.Future[Reply] = self._loop.create_future()
        self._pending[call] = (answer, on_permit)
        values = f',"state_values":{json.dumps(state_values)}' if state_values else ""
        request = f'{{"kind":"relay","route":"{route}","body":{body}}}'
        self._outbox.put_text(f'{{"type":"call","call":{call},"unit":{unit},"to":null,"state":null{values},"watches":false,"request":{request}}}')
        try:
            return await answer
        except asyncio.CancelledError:
            self._outbox.put({"type": "cancel_call", "call": call})
            raise
        finally:
            del self._pending[call]

    def permitted(self, call: int) -> None:
        """A `permitted` came."""
        pending = self._pending.get(call)
        if pending is not None:
            pending[1]()

    def answered(self, answer: dict[str, Any]) -> None:
        """An `answer` came."""
        pending = self._pending.get(answer["call"])
        if pending is None or pending[0].done():
            return
        pending[1]()
        pending[0].set_result(reply_of(answer))


class CallTime(Protocol):
    """Whoever counts the time of a unit."""

    def asks(self) -> None: ...

    def permitted(self) -> None: ...


@dataclass(eq=False)
class Caller:
    """What calls of one rollout go through. Its token stands in the addresses of that rollout, and in no other."""

    relays: Relays
    unit: int
    model: str
    time: CallTime
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    # The newest refusal; null while there is none.
    refusal: dict[str, Any] | None = None
    _turns: asyncio.Semaphore | None = None

    async def relay(self, route: str, body: str, state_values: dict[str, str] | None = None) -> Reply:
        """As `Relays.ask`; waits while as many calls are under way as there may be. What is too large for a message is refused here."""
        if len(body) > MOST_CHARACTERS:
            problem = f"a request has at most {MOST_CHARACTERS} characters of JSON, and this one has {len(body)}"
            return reply_of({"error": {"name": "EdgewiseError", "message": problem, "code": "bad_request", "causes": []}})
        if self._turns is None:
            self._turns = asyncio.Semaphore(MOST_CALLS)
        async with self._turns:
            self.time.asks()
            reply = await self.relays.ask(self.unit, route, body, state_values or {}, self.time.permitted)
        if reply.error is not None:
            self.refusal = reply.error
        return reply


class Callers:
    """The rollouts that are open, by their tokens."""

    def __init__(self) -> None:
        self._of: dict[str, Caller] = {}

    def add(self, caller: Caller) -> None:
        self._of[caller.token] = caller

    def remove(self, caller: Caller) -> None:
        self._of.pop(caller.token, None)

    def find(self, path: str) -> tuple[Caller | None, str]:
        """The rollout that a path of the loopback address is of, and the route below it."""
        token, _, route = path.lstrip("/").partition("/")
        while route.startswith("v1/"):
            route = route[3:]
        return self._of.get(token), route.rstrip("/")
