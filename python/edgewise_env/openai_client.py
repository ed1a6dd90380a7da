"""The OpenAI SDK with the way to the model taken out: most requests never become HTTP."""

from __future__ import annotations

from typing import Any

from openai import APIConnectionError, APITimeoutError, AsyncOpenAI

from .relay import Caller
from .sdk_calls import asked_of, answer_of, is_plain_call


class RelayedOpenAI(AsyncOpenAI):
    """An `AsyncOpenAI` whose calls of the model under evaluation go through `caller`. What is not a plain call takes the SDK's own way, over the transport."""

    def __init__(self, *, caller: Caller | None = None, own_url: str = "", **options: Any):
        super().__init__(**options)
        self._caller = caller
        self._own_url = own_url
        self._relays = caller is not None and str(self.base_url).startswith(own_url)

    def copy(self, *, _extra_kwargs: Any = {}, **options: Any) -> "RelayedOpenAI":
        return super().copy(_extra_kwargs={"caller": self._caller, "own_url": self._own_url, **_extra_kwargs}, **options)

    with_options = copy

    async def request(self, cast_to: Any, options: Any, *, stream: bool = False, stream_cls: Any = None, **rest: Any) -> Any:
        if not self._relays or self._caller is None or not is_plain_call(options, stream, cast_to):
            return await super().request(cast_to, options, stream=stream, stream_cls=stream_cls, **rest)
        route, body, state_values = asked_of(options)
        reply = await self._caller.relay(route, body, state_values)
        return answer_of(self, cast_to, options, reply, APIConnectionError, APITimeoutError)
