"""The arguments of `load_environment`: what they are, and whether some that are given can be."""

from __future__ import annotations

import inspect
import types
import typing
from typing import Any, Callable

from .failures import Failure
from .plain import is_json

_SIMPLE: dict[object, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    dict: {"type": "object"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    set: {"type": "array"},
    type(None): {"type": "null"},
    None: {"type": "null"},
}


def schema_of(annotation: object) -> dict[str, Any]:
    """JSON Schema of the values of an annotated parameter; an empty one, which allows all, where the annotation says nothing of JSON."""
    if annotation in (inspect.Parameter.empty, Any):
        return {}
    try:
        simple = _SIMPLE.get(annotation)
    except TypeError:
        simple = None
    if simple is not None:
        return dict(simple)
    origin, given = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return schema_of(given[0])
    if origin is typing.Literal:
        return {"enum": list(given)} if is_json(list(given)) else {}
    if origin in (typing.Union, types.UnionType):
        options = [schema_of(each) for each in given]
        return {} if {} in options else {"anyOf": options}
    if origin is not None and origin in (list, set, frozenset, tuple) or _is_sequence(origin):
        return {"type": "array", "items": schema_of(given[0])} if len(given) == 1 else {"type": "array"}
    if origin is dict or _is_mapping(origin):
        return {"type": "object"}
    return {}


def _is_sequence(origin: object) -> bool:
    return inspect.isclass(origin) and issubclass(origin, typing.Sequence) and origin is not str


def _is_mapping(origin: object) -> bool:
    return inspect.isclass(origin) and issubclass(origin, typing.Mapping)


def parameters_of(load: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters that have names; those that take any name are left out."""
    variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return [each for each in inspect.signature(load).parameters.values() if each.kind not in variable]


def describe_arguments(load: Callable[..., Any]) -> list[dict[str, Any]]:
    """The arguments as `facts` names them."""
    try:
        hints = typing.get_type_hints(load, include_extras=True)
    except Exception:
        hints = {}
    described = []
    for parameter in parameters_of(load):
        required = parameter.default is inspect.Parameter.empty
        one: dict[str, Any] = {
            "name": parameter.name,
            "schema": schema_of(hints.get(parameter.name, inspect.Parameter.empty)),
            "required": required,
            "description": None,
        }
        if not required and is_json(parameter.default):
            one["default"] = parameter.default
        described.append(one)
    return described


def check_arguments(load: Callable[..., Any], args: dict[str, Any]) -> None:
    """Raises `Failure` for an argument that `load_environment` does not take, or lacks."""
    parameters = parameters_of(load)
    names = [each.name for each in parameters]
    takes_any = any(each.kind == inspect.Parameter.VAR_KEYWORD for each in inspect.signature(load).parameters.values())
    unknown = [name for name in args if name not in names]
    if unknown and not takes_any:
        allowed = ", ".join(names) if names else "it takes none"
        raise Failure("invalid_request", f"env_args.{unknown[0]}: load_environment has no such argument (allowed: {allowed})")
    missing = [each.name for each in parameters if each.default is inspect.Parameter.empty and each.name not in args]
    if missing:
        raise Failure("invalid_request", f"env_args.{missing[0]}: load_environment needs this argument, and it is not given (-a '{{\"{missing[0]}\": …}}')")


def resolve_arguments(load: Callable[..., Any], args: dict[str, Any]) -> dict[str, Any]:
    """`args` as verifiers records them: as they were given. Raises as `check_arguments`."""
    check_arguments(load, args)
    return args
