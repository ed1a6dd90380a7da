"""Variables for lack of which an environment's code failed."""

from __future__ import annotations

import re
from types import TracebackType

from .failures import Failure

# As the OpenAI SDK says it: "by setting the OPENAI_API_KEY environment variable", "or set the `OPENAI_API_KEY` or … environment variable".
_NAMED = re.compile(r"\bset(?:ting)? the `?([A-Z][A-Z0-9_]+)")


def missing_variables(error: BaseException) -> list[str]:
    """Names of the variables that `error`, or what caused it, says are missing; none where it is about something else."""
    at: BaseException | None = error
    while at is not None:
        # The library's MissingKeyError, whose text is about other places than this one.
        keys = getattr(at, "keys", None)
        if type(at).__name__ == "MissingKeyError" and keys:
            return [str(key) for key in keys]
        if isinstance(at, KeyError) and at.args and isinstance(at.args[0], str) and _raised_by_environ(at.__traceback__):
            return [at.args[0]]
        named = _NAMED.search(str(at)) if type(at).__name__ == "OpenAIError" else None
        if named is not None:
            return [named.group(1)]
        at = at.__cause__
    return []


def _raised_by_environ(trace: TracebackType | None) -> bool:
    """Whether the innermost frame is `os.environ[…]`."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_globals.get("__name__") == "os" and trace.tb_frame.f_code.co_name == "__getitem__"


def needs_variables(environment: str, names: list[str]) -> Failure:
    """What whoever runs `environment` is told."""
    flags = " ".join(f"--env-var {name}" for name in names)
    return Failure(
        "environment_failed",
        f"{environment} needs variables that its process has not: {', '.join(names)}",
        f"Where a command starts it: set them there, and add {flags}. Where it is linked: set them where its server is started.",
    )
