"""What is told of an environment before it is loaded."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from .arguments import describe_arguments
from .library import Library
from .loading import Found

# Folders that are no part of an environment's code.
_PASSED_BY = {"__pycache__", ".git", ".venv", "venv", "outputs", "node_modules", ".pytest_cache", ".ruff_cache", "dist", "build"}


def facts_of(found: Found, library: Library) -> dict[str, Any]:
    """The `facts` of docs/environment-protocol.md."""
    return {
        "id": found.id,
        "version": found.version,
        "description": _description(found),
        "defaults": _defaults(found),
        "keys": [],
        "args": describe_arguments(found.module.load_environment),
        "source": source_of(found, library),
        "results_shape": library.results_shape,
    }


def _description(found: Found) -> str:
    told = found.pyproject.get("project", {}).get("description")
    if isinstance(told, str) and told != "":
        return told
    lines = (found.module.__doc__ or "").strip().splitlines()
    return lines[0] if lines else f"Environment {found.id}, in Python"


def _defaults(found: Found) -> dict[str, int]:
    """`num_examples` and `rollouts_per_example` of [tool.verifiers.eval]; what is no whole number is left out, as it is by verifiers' readers."""
    told = found.pyproject.get("tool", {}).get("verifiers", {}).get("eval", {})
    names = ("num_examples", "rollouts_per_example")
    return {name: told[name] for name in names if isinstance(told, dict) and isinstance(told.get(name), int) and not isinstance(told[name], bool)}


def source_of(found: Found, library: Library) -> str:
    """A digest of the environment's files and the release of the library, in hex: two that have the same one play the same way."""
    digest = hashlib.sha256(f"verifiers {library.version}\n".encode())
    for name, file in _files(found.place):
        digest.update(f"{name}\n{file.stat().st_size}\n".encode())
        digest.update(file.read_bytes())
    return f"sha256:{digest.hexdigest()}"


def _files(place: Path | None) -> list[tuple[str, Path]]:
    if place is None:
        return []
    if place.is_file():
        return [(place.name, place)]
    files = []
    for file in sorted(place.rglob("*")):
        inside = file.relative_to(place)
        if file.is_file() and not _PASSED_BY.intersection(inside.parts) and file.suffix != ".pyc":
            files.append((inside.as_posix(), file))
    return files
