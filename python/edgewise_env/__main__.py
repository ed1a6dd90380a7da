"""`python -m edgewise_env NAME|PATH`: serves one environment."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import sys
from typing import Any, Callable, TextIO

from . import VERSION
from .failures import Failure, said


def options_of(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m edgewise_env", description="Serves an environment written for the verifiers library to Edgewise.")
    parser.add_argument("environment", metavar="NAME|PATH", help="an id whose module is installed or a folder of --env-dir, or a path to a folder or file")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (default: %(default)s)")
    parser.add_argument("--port", type=int, default=0, help="port to listen at (default: one that is free)")
    parser.add_argument("--env-dir", default="./environments", help="folder with environments (default: %(default)s)")
    parser.add_argument("--id", default=None, help="what it is called (default: NAME, or as its project, folder or file is called)")
    parser.add_argument("--concurrency", type=int, default=None, metavar="N", help="rollouts at once of this process, told by set_concurrency (default: as the environment has it)")
    parser.add_argument("--token-env", default="EDGEWISE_ENV_TOKEN", metavar="NAME", help="variable that holds the token (default: %(default)s; without one, one is made and printed)")
    parser.add_argument("--with-parent", action="store_true", help="end when standard input ends")
    parser.add_argument("--version", action="version", version=f"edgewise_env {VERSION}")
    return parser.parse_args(arguments)


def own_output() -> Callable[[dict[str, Any]], None]:
    """Takes standard output for the one line that is ours: what else writes to it writes to standard error from now on."""
    line: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(told: dict[str, Any]) -> None:
        line.write(json.dumps({"edgewise_env": 1, **told}) + "\n")
        line.close()

    return say


def main(arguments: list[str] | None = None) -> int:
    """Serves until it is told to end. Returns the exit status: 2 where there is nothing to serve."""
    options = options_of(arguments)
    say = own_output()
    token = os.environ.pop(options.token_env, "")
    for name in [name for name in os.environ if name.startswith("EDGEWISE_")]:
        del os.environ[name]
    try:
        # Here, so that what is wrong with the Python that this is comes on the first line as well.
        from .library import find_library
        from .loading import find_environment
        from .serving import serve

        library = find_library()
        found = find_environment(options.environment, options.env_dir, options.id)
    except Failure as failure:
        say({"error": {"code": failure.code, "message": failure.message, "hint": failure.hint}})
        return 2
    except ImportError as missing:
        say({"error": {"code": "environment_failed", "message": said(missing), "hint": f"{sys.executable} -m pip install edgewise-env"}})
        return 2
    try:
        return asyncio.run(serve(found, library, options, token or secrets.token_urlsafe(32), token == "", say))
    except OSError as error:
        say({"error": {"code": "environment_failed", "message": f"{options.host}:{options.port} cannot be listened at: {said(error)}", "hint": None}})
        return 2


if __name__ == "__main__":
    sys.exit(main())
