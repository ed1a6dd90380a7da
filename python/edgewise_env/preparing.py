"""What may keep the rollouts' loop for minutes without anything being wrong: an environment that is loaded, a data set that is fetched."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import Iterator

# As long as the command waits for a process to serve, and verifiers for its own servers. Seconds.
MOST_S = 600.0


class Preparing:
    """Begun and ended in the rollouts' loop, and looked at from the server's thread."""

    def __init__(self) -> None:
        self._since: float | None = None

    @contextmanager
    def time(self) -> Iterator[None]:
        """While this lasts, the loop owes nobody a turn."""
        self._since = time.monotonic()
        try:
            yield
        finally:
            self._since = None

    @property
    def is_under_way(self) -> bool:
        """False again once it has taken longer than anything should."""
        since = self._since
        return since is not None and time.monotonic() - since < MOST_S
