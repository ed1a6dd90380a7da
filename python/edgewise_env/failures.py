"""Failures as they are told: on the first line, and in messages (`error` in docs/environment-protocol.md)."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

# Causes and characters of a text that cross: rows show no more.
MAX_CAUSES = 6
MAX_TEXT = 4_000
OWN_FOLDER = str(Path(__file__).resolve().parent)


class Failure(Exception):
    """Something that whoever asked is told, with a code of the catalogue (src/errors/codes.ts)."""

    def __init__(self, code: str, message: str, hint: str | None = None):
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint


def cut(text: str, most: int = MAX_TEXT) -> str:
    """`text`, or its first `most` characters and an ellipsis."""
    return text if len(text) <= most else text[:most] + "…"


def said(error: BaseException) -> str:
    """What an exception says; its class where it says nothing, or where saying it fails."""
    try:
        return cut(str(error)) or type(error).__name__
    except Exception:
        return type(error).__name__


def place_of(error: BaseException) -> str | None:
    """`file:line` of the innermost frame that is neither ours nor of an installed package; null where there is none."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "site-packages" not in frame.filename and OWN_FOLDER not in frame.filename and not _is_standard(frame.filename)]
    if not own:
        return None
    return f"{Path(own[-1].filename).name}:{own[-1].lineno} in {own[-1].name}"


def _is_standard(filename: str) -> bool:
    return filename.startswith("<") or filename.startswith(_STANDARD)


_STANDARD = str(Path(traceback.__file__).resolve().parent)


def causes_of(error: BaseException) -> list[dict[str, str]]:
    """The chain of causes below `error`, the outermost first."""
    causes: list[dict[str, str]] = []
    below = error.__cause__
    while below is not None and len(causes) < MAX_CAUSES:
        causes.append({"name": type(below).__name__, "message": said(below)})
        below = below.__cause__
    return causes


def crossing(error: BaseException) -> dict[str, Any]:
    """`error` as a message carries it."""
    own = error if isinstance(error, Failure) else None
    message = said(error) if own is not None else f"{type(error).__name__}: {said(error)}"
    place = None if own is not None else place_of(error)
    crossed: dict[str, Any] = {
        "name": "EdgewiseError" if own is not None else type(error).__name__,
        "message": message if place is None else f"{message} ({place})",
        "code": None if own is None else own.code,
        "causes": causes_of(error),
    }
    if own is not None and own.hint is not None:
        crossed["hint"] = own.hint
    return crossed
