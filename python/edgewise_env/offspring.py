"""Processes that the environment started, and that would outlive this one."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

# How long they have to end by themselves. Seconds.
PATIENCE_S = 2.0


def end_offspring() -> None:
    """Ends what is left of this process's group, where the group is its own (whoever started it made it one)."""
    if os.getpgrp() != os.getpid():
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        others = _others()
        for pid in others:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass
        until = time.monotonic() + PATIENCE_S
        while _others() and time.monotonic() < until:
            time.sleep(0.05)


def _others() -> list[int]:
    """Processes of this group, but for this one; none where the system does not say (it has no /proc)."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            # After the name, which may have anything in it: state, parent, group.
            state, _, group = entry.read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(group) == os.getpgrp() and state != "Z" and int(entry.parent.name) != os.getpid():
            found.append(int(entry.parent.name))
    return found
