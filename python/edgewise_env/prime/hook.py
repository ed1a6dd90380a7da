"""Has `verifiers.cli.plugins.prime` be edgewise_env/prime/plugin.py in this Python, where that was asked for: `python -m edgewise_env.prime.hook install`."""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Sequence

ASKED_FOR = "verifiers.cli.plugins.prime"
# Packages on the way to it: in a Python without verifiers they are not there.
_PARENTS = ("verifiers", "verifiers.cli", "verifiers.cli.plugins")
FILE = "edgewise_prime.pth"


class PluginFinder(MetaPathFinder):
    """Answers for that one name."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name == ASKED_FOR:
            return importlib.util.spec_from_file_location(name, Path(__file__).with_name("plugin.py"))
        if name in _PARENTS and self._is_missing(name, path):
            # A package with nothing in it.
            return ModuleSpec(name, None, is_package=True)
        return None

    def _is_missing(self, name: str, path: Sequence[str] | None) -> bool:
        others = [finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec")]
        return all(finder.find_spec(name, path) is None for finder in others)


def answer() -> None:
    """From now on the name means ours."""
    if not any(isinstance(finder, PluginFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, PluginFinder())


def main(arguments: list[str]) -> int:
    """`install` or `uninstall`: a line in this Python's site-packages."""
    file = Path(sysconfig.get_path("purelib")) / FILE
    if arguments == ["install"]:
        file.write_text("import edgewise_env.prime.hook; edgewise_env.prime.hook.answer()\n")
        print(f"prime of {sys.executable} runs evaluations with edgewise now ({file})")
    elif arguments == ["uninstall"]:
        file.unlink(missing_ok=True)
        print(f"prime of {sys.executable} runs evaluations with verifiers again")
    else:
        print("usage: python -m edgewise_env.prime.hook install|uninstall", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
