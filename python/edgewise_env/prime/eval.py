"""`python -m edgewise_env.prime.eval ...`: `edgewise eval run ...`, for callers that can start Python modules alone."""

from __future__ import annotations

import os
import shutil
import sys


def command(arguments: list[str]) -> list[str] | None:
    """The command that is run; null where neither `edgewise` nor `npx` is there."""
    own = shutil.which("edgewise")
    if own is not None:
        return [own, "eval", "run", *arguments]
    npx = shutil.which("npx")
    return None if npx is None else [npx, "edgewise", "eval", "run", *arguments]


def main(arguments: list[str]) -> int:
    """Becomes the command. Returns only where there is none."""
    found = command(arguments)
    if found is None:
        print("error: neither edgewise nor npx is on the PATH\n  Install Node.js (>= 20.19), then: npm install --global edgewise", file=sys.stderr)
        return 127
    if os.name == "nt":
        import subprocess

        return subprocess.call(found)
    os.execv(found[0], found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
