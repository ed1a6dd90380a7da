"""Values as JSON: which can be, and how they look when they have crossed to a reader with one kind of number."""

from __future__ import annotations

import json
import math
from datetime import date, datetime
from typing import Any

# Beyond it, whole numbers are not told apart by a reader that has doubles alone.
LARGEST_WHOLE = 2**53 - 1


class NotPlain(Exception):
    """A value that is no JSON: `path` says which."""

    def __init__(self, path: str, value: object):
        super().__init__(f"{path} is a {type(value).__name__}" if not isinstance(value, float) else f"{path} is {value}")
        self.path = path


def plain(value: Any, path: str) -> Any:
    """`value` as JSON has it: dates become texts, arrays of numpy lists. Raises `NotPlain` with the path of what cannot be."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotPlain(path, float(value))
        return float(value)
    if isinstance(value, dict):
        return {_key(key, path): plain(each, f"{path}.{key}") for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each, f"{path}[{at}]") for at, each in enumerate(value)]
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(), path)
    if hasattr(value, "tolist"):
        return plain(value.tolist(), path)
    raise NotPlain(path, value)


def _key(key: object, path: str) -> str:
    if not isinstance(key, str):
        raise NotPlain(f"a key of {path}", key)
    return key


def is_json(value: Any) -> bool:
    """Whether `value` is JSON as it is."""
    try:
        json.dumps(value, allow_nan=False)
        return True
    except (TypeError, ValueError):
        return False


def same_crossed(own: Any, crossed: Any) -> bool:
    """Whether `crossed` is what a reader with doubles alone gives back of `own`, which is plain."""
    if isinstance(own, bool) or isinstance(crossed, bool) or own is None or crossed is None:
        return own is crossed
    if isinstance(own, (int, float)) and isinstance(crossed, (int, float)):
        return own == crossed or float(own) == float(crossed)
    if isinstance(own, dict) and isinstance(crossed, dict):
        return own.keys() == crossed.keys() and all(same_crossed(value, crossed[key]) for key, value in own.items())
    if isinstance(own, list) and isinstance(crossed, list):
        return len(own) == len(crossed) and all(same_crossed(a, b) for a, b in zip(own, crossed))
    return own == crossed
