"""The process's signals, which the library takes for itself whenever an environment is loaded."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import Iterator


@contextmanager
def keep_signals() -> Iterator[None]:
    """What is done on SIGINT and SIGTERM stays as it is, whatever is done meanwhile."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
