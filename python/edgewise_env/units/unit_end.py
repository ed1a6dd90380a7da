"""What became of a rollout, as it is told: the library's own row, and which of our error codes its error is."""

from __future__ import annotations

import json
from typing import Any

from ..failures import Failure
from ..library import Library
from ..calls.relay import FATAL
from .rollouts import RolloutFailed

# Far more than a row may have, and less than a line of a conversation (src/limits.ts).
MOST_CHARACTERS = 8 * 1024 * 1024
# The library's errors, by the name of their class, and the code of each (ROLLOUT_ERRORS in src/errors/codes.ts).
_CODES = {
    "EmptyModelResponseError": "empty_response",
    "InvalidModelResponseError": "invalid_response",
    "ToolParseError": "tool_parse_error",
    "ToolCallError": "tool_call_error",
    "ToolError": "tool_call_error",
    "SandboxError": "sandbox_error",
    "InfraError": "sandbox_error",
}


def chain_of(error: object) -> list[BaseException]:
    """An error and its causes, the outermost first."""
    chain: list[BaseException] = []
    while isinstance(error, BaseException) and error not in chain:
        chain.append(error)
        error = error.__cause__
    return chain


def code_of(error: object) -> str | None:
    """The code of a rollout's error: that of the refused call which it comes from, or of its class; null where neither says."""
    chain = chain_of(error)
    for each in chain:
        code = getattr(each, "edgewise_code", None)
        if isinstance(code, str):
            return code
    for each in chain:
        if isinstance(each, RolloutFailed):
            return each.code
        for kind in type(each).__mro__:
            if kind.__name__ in _CODES and kind.__module__.startswith("verifiers"):
                return _CODES[kind.__name__]
    return None


def fatal_of(states: list[Any], refusals: list[dict[str, Any] | None]) -> dict[str, Any] | None:
    """The refusal, as `failure`, that ended one of the rollouts and would meet every further call; null where there is none."""
    by_code = {refusal["code"]: refusal for refusal in refusals if refusal is not None and refusal.get("code") in FATAL}
    for state in states:
        refusal = by_code.get(code_of(state.get("error")) or "")
        if refusal is not None:
            return {name: refusal[name] for name in ("code", "message", "hint") if name in refusal}
    return None


def row_of(library: Library, output: Any) -> str:
    """The line of results.jsonl that verifiers saves of an output. Raises what writing it raises, and `Failure` for one that no message holds."""

    def plain_form(value: Any) -> Any:
        # What comes from the library's own server, as all of `vf-eval` does unless it is told otherwise, was made plain with the fields that are None.
        return value.model_dump() if hasattr(value, "model_dump") else library.make_serializable(value)

    row = json.dumps(output, default=plain_form)
    if len(row) > MOST_CHARACTERS:
        raise Failure("environment_error", f"a row of {len(row)} characters is more than can be kept ({MOST_CHARACTERS})")
    return row


def ended(unit: int, rollout: int, row: str, error: object) -> dict[str, Any]:
    """The message that a rollout is over."""
    message: dict[str, Any] = {"type": "ended", "unit": unit, "rollout": rollout, "row": row, "state": None}
    code = code_of(error)
    if code is not None:
        message["code"] = code
    return message
