"""What the environment's code prints and logs, on its way to whoever watches the run, and to this process's own log."""

from __future__ import annotations

import contextvars
import logging
import sys
from typing import Any, Callable, TextIO

# Prints that a conversation tells, and characters of one: docs/environment-protocol.md.
MAX_PRINTS = 1_000
MAX_CHARACTERS = 16_000
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
# Of these libraries the other side hears what is wrong, and not what is going on.
QUIET = ("verifiers", "httpx", "httpcore", "openai", "anthropic", "datasets", "aiohttp", "asyncio", "urllib3", "huggingface_hub", "fsspec", "filelock")


class Prints:
    """What one conversation tells of what is printed."""

    def __init__(self, put: Callable[[dict[str, Any]], None]):
        self._put = put
        self._count = 0

    def print(self, level: str, text: str) -> None:
        """Tells a text. Of the event loop's thread."""
        self._count += 1
        if self._count > MAX_PRINTS + 1:
            return
        if self._count > MAX_PRINTS:
            level, text = "WARNING", f"what is printed further is left out, after {MAX_PRINTS} prints"
        self._put({"type": "print", "level": level, "text": text[:MAX_CHARACTERS]})


# The conversation whose work is being done; threads and tasks that work starts inherit it.
of_work: contextvars.ContextVar[Callable[[str, str], None] | None] = contextvars.ContextVar("edgewise_prints", default=None)


class Captured:
    """Stands in the place of `sys.stdout`: lines go to the conversation whose work prints them, and to the log."""

    def __init__(self, log: TextIO):
        self._log = log
        self._line: dict[object, str] = {}

    def write(self, text: str) -> int:
        self._log.write(text)
        tell = of_work.get()
        if tell is not None:
            *lines, rest = (self._line.pop(tell, "") + text).split("\n")
            if rest:
                self._line[tell] = rest
            whole = "\n".join(line for line in lines if line.strip())
            if whole:
                tell("INFO", whole)
        return len(text)

    def flush(self) -> None:
        self._log.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)


class _Handler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        tell = of_work.get()
        if tell is None or (record.levelno < logging.WARNING and record.name.split(".")[0] in QUIET):
            return
        level = record.levelname if record.levelname in LEVELS else "ERROR" if record.levelno > logging.ERROR else "INFO"
        tell(level, self.format(record))


def capture(log: TextIO, level: str) -> None:
    """Has all that is printed and logged from now on go to `log`, and to the conversation whose work it is. `level`: of the log."""
    sys.stdout = Captured(log)  # type: ignore[assignment]
    to_log = logging.StreamHandler(log)
    to_log.setFormatter(logging.Formatter("%(asctime)s - %(name)s - %(levelname)s - %(message)s"))
    told = _Handler()
    told.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    # The library keeps its own to itself.
    for logger in (root, logging.getLogger("verifiers")):
        logger.handlers = [to_log, told]
    logging.getLogger("verifiers").setLevel(logging.INFO)
    to_log.setLevel(getattr(logging, level.upper(), logging.INFO))
