"""The plugin by which Prime's command line finds out which modules its commands are: `prime eval run` is Edgewise's then.

`prime` up to 0.7.7 asks `verifiers.cli.plugins.prime` for it, by that name; later ones run no environment and ask nobody. So that it finds this one, hook.py
answers to that name where it was installed: `python -m edgewise_env.prime.hook install`, in the Python that `prime` runs in.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

PRIME_PLUGIN_API_VERSION = 1


@dataclass(frozen=True)
class PrimeCLIPlugin:
    """Modules that `prime` starts with `python -m`. Only evaluations are ours; what makes and installs environments stays with the library that they are written for."""

    api_version: int = PRIME_PLUGIN_API_VERSION
    eval_module: str = "edgewise_env.prime.eval"
    gepa_module: str = "verifiers.cli.commands.gepa"
    install_module: str = "verifiers.cli.commands.install"
    init_module: str = "verifiers.cli.commands.init"
    setup_module: str = "verifiers.cli.commands.setup"
    build_module: str = "verifiers.cli.commands.build"
    tui_module: str = "verifiers.cli.tui"

    def build_module_command(self, module_name: str, args: Sequence[str] | None = None) -> list[str]:
        """The command that runs a module, as a list: in the virtual environment that is active or lies beside the nearest pyproject.toml, else in this Python."""
        return [workspace_python(), "-m", module_name, *(args or [])]


def workspace_python(folder: Path | None = None) -> str:
    """The interpreter of the workspace."""
    folder = (folder or Path.cwd()).resolve()
    roots = [os.environ.get("UV_PROJECT_ENVIRONMENT"), os.environ.get("VIRTUAL_ENV")]
    nearest = next((each for each in [folder, *folder.parents] if (each / "pyproject.toml").is_file()), None)
    inside = Path("Scripts/python.exe" if os.name == "nt" else "bin/python")
    for root in [*(Path(each) for each in roots if each), *([nearest / ".venv"] if nearest else [])]:
        if (root / inside).exists():
            return str(root / inside)
    return sys.executable


def get_plugin() -> PrimeCLIPlugin:
    """The plugin, as `prime` asks for it."""
    return PrimeCLIPlugin()
