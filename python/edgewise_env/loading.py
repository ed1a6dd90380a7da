"""Where an environment is: a folder, a file, or a module that is installed."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

from .failures import Failure, place_of, said
from .missing_variables import missing_variables, needs_variables

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib  # type: ignore[no-redef]


@dataclass(frozen=True)
class Found:
    """An environment that was found, and imported."""

    id: str
    module: ModuleType
    # Its files: a folder, or the one file that it is.
    place: Path | None
    pyproject: dict[str, Any]

    @property
    def load_as(self) -> str:
        """The name under which `verifiers.load_environment` imports this module."""
        return self.id if module_of(self.id) == self.module.__name__ else self.module.__name__

    @property
    def version(self) -> str:
        """Of the package that it comes in; `0` where nothing says."""
        said_there = self.pyproject.get("project", {}).get("version")
        if isinstance(said_there, str):
            return said_there
        try:
            return metadata.version(self.module.__name__.replace("_", "-"))
        except metadata.PackageNotFoundError:
            return "0"


def module_of(name: str) -> str:
    """The module that verifiers imports for an environment's id."""
    return name.replace("-", "_").split("/")[-1]


def find_environment(name: str, env_dir: str, called: str | None = None) -> Found:
    """Finds what `name` means: a path, a folder of `env_dir`, or an installed module; and imports it. `called`: its id, where it is another. Raises `Failure`."""
    found = _find(name, env_dir)
    return found if called is None else replace(found, id=called)


def _find(name: str, env_dir: str) -> Found:
    path = Path(name).expanduser()
    if path.suffix == ".py" or (("/" in name or name in (".", "..")) and path.exists()) or (path.is_dir() and _is_environment(path)):
        return _at(path, None)
    for folder in (Path(env_dir) / module_of(name), Path(env_dir) / name.split("/")[-1]):
        if folder.is_dir() and _is_environment(folder):
            return _at(folder, name)
    module = module_of(name)
    if importlib.util.find_spec(module) is None:
        raise Failure(
            "environment_not_found",
            f"there is no environment {name}: {path} is no folder, {Path(env_dir) / module} is none, and no module {module} is installed in {sys.executable}",
            f"Install it (pip install ./PATH, or prime env install {name}), or name its folder.",
        )
    imported = _imported(module)
    place = _place_of(imported)
    return Found(name, imported, place, _pyproject(place))


def _is_environment(folder: Path) -> bool:
    return (folder / "pyproject.toml").is_file() or (folder / "__init__.py").is_file() or _module_in(folder) is not None


def _at(path: Path, name: str | None) -> Found:
    path = path.resolve()
    if path.is_file():
        root, module = path.parent, path.stem
        return _loaded(root, module, name or module.replace("_", "-"), path, {})
    if not path.is_dir():
        raise Failure("environment_not_found", f"there is no {path}", "Name a folder with a pyproject.toml, or a file with load_environment.")
    pyproject = _pyproject(path)
    project = pyproject.get("project", {}).get("name")
    own = project if isinstance(project, str) else path.name
    for root, module in ((path, module_of(own)), (path / "src", module_of(own)), (path, path.name)):
        if (root / f"{module}.py").is_file() or (root / module / "__init__.py").is_file():
            return _loaded(root, module, name or own, path, pyproject)
    if (path / "__init__.py").is_file():
        return _loaded(path.parent, path.name, name or own, path, pyproject)
    module = _module_in(path)
    if module is None:
        raise Failure(
            "environment_not_found",
            f"{path} has no module {module_of(own)}, and no other with load_environment",
            f"An environment is {module_of(own)}.py, or a package {module_of(own)}, with a function load_environment.",
        )
    return _loaded(path, module, name or own, path, pyproject)


def _module_in(folder: Path) -> str | None:
    """The one module of `folder` that defines `load_environment`."""
    files = [*folder.glob("*.py"), *folder.glob("*/__init__.py")]
    having = [file for file in files if "def load_environment" in file.read_text("utf-8", errors="replace")]
    if len(having) != 1:
        return None
    return having[0].stem if having[0].name != "__init__.py" else having[0].parent.name


def _loaded(root: Path, module: str, name: str, place: Path, pyproject: dict[str, Any]) -> Found:
    sys.path.insert(0, str(root))
    importlib.invalidate_caches()
    return Found(name, _imported(module), place, pyproject)


def _imported(module: str) -> ModuleType:
    try:
        imported = importlib.import_module(module)
    except ModuleNotFoundError as missing:
        raise Failure(
            "environment_failed",
            f"{module} cannot be imported: it needs {missing.name}, which is not installed in {sys.executable}",
            f"{sys.executable} -m pip install {(missing.name or '').split('.')[0].replace('_', '-')}",
        ) from missing
    except Exception as error:
        missing_here = missing_variables(error)
        if missing_here:
            raise needs_variables(module, missing_here) from error
        place = place_of(error)
        where = "" if place is None else f" ({place})"
        raise Failure("environment_failed", f"{module} cannot be imported: {type(error).__name__}: {said(error)}{where}") from error
    if not callable(getattr(imported, "load_environment", None)):
        raise Failure("environment_failed", f"module {module} ({getattr(imported, '__file__', None)}) has no function load_environment")
    return imported


def _place_of(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    if file is None:
        return None
    path = Path(file)
    return path.parent if path.name == "__init__.py" else path


def _pyproject(place: Path | None) -> dict[str, Any]:
    """The pyproject.toml beside an environment, where verifiers looks for it: in its folder."""
    if place is None:
        return {}
    file = (place if place.is_dir() else place.parent) / "pyproject.toml"
    if not file.is_file():
        return {}
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise Failure("environment_failed", f"{file} is no TOML: {error}") from error
