"""What is known of a loaded environment."""

from __future__ import annotations

from typing import Any

from .library import Library
from .loading import Found
from .plain import is_json


def has_group_rewards(environment: Any) -> bool:
    """Whether a function judges all rollouts of an example together."""
    told = getattr(environment, "requires_group_rollouts", None)
    if isinstance(told, bool):
        return told
    return any(rubric._is_group_func(func) for rubric in _rubrics(environment.rubric) for func in rubric.funcs)


def _rubrics(rubric: Any) -> list[Any]:
    """A rubric, or those that it is a group of."""
    inner = getattr(rubric, "rubrics", None)
    if inner is None and hasattr(rubric, "env_map"):
        inner = [environment.rubric for environment in rubric.env_map.values()]
    return [rubric] if inner is None else [each for one in inner for each in _rubrics(one)]


def _weights(environment: Any) -> dict[str, float]:
    """What each metric counts for, under the names that rows have; of two of one name the sum."""
    weights: dict[str, float] = {}
    for rubric in _rubrics(environment.rubric):
        for func, weight in zip(getattr(rubric, "funcs", []), getattr(rubric, "weights", [])):
            name = getattr(func, "__name__", repr(func))
            weights[name] = weights.get(name, 0.0) + float(weight)
    return weights


def _tools(environment: Any) -> list[dict[str, Any]]:
    tools = []
    for tool in getattr(environment, "tool_defs", None) or []:
        told = tool.model_dump() if hasattr(tool, "model_dump") else dict(tool)
        tools.append({name: told[name] for name in ("name", "description", "parameters", "strict") if name in told})
    return tools


def _sampling_args(environment: Any) -> dict[str, Any]:
    own = getattr(environment, "sampling_args", None) or {}
    return {name: value for name, value in own.items() if is_json(value)}


def _reward_range(weights: dict[str, float]) -> list[float | None]:
    """What rewards are if each function gives 0 to 1, which the library neither says nor asks for; what is seen outside of it widens it."""
    if not weights:
        return [None, None]
    ends = [round(sum(end(0.0, weight) for weight in weights.values()), 12) for end in (min, max)]
    return [ends[0], ends[1]]


def traits_of(environment: Any, found: Found, library: Library, args: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    """The `traits` of docs/environment-protocol.md."""
    weights = _weights(environment) if environment.score_rollouts else {}
    together = has_group_rewards(environment)
    concurrency = extra.get("concurrency")
    tools = _tools(environment)
    return {
        "id": found.id,
        "version": found.version,
        "args": environment.env_args if is_json(environment.env_args) else args,
        "dataset_name": None,
        "pass_threshold": float(getattr(environment, "pass_threshold", 0.5)),
        "reward_range": _reward_range(weights),
        "reward_weights": weights,
        "sampling_args": _sampling_args(environment),
        "tool_defs": tools,
        "shared_tools": tools or None,
        "concurrency": concurrency if isinstance(concurrency, int) and concurrency > 0 else None,
        "metric_names": list(weights),
        "score_rollouts": bool(environment.score_rollouts),
        "has_group_rewards": together,
        "scores_alone": False,
        "resumable": False,
        "access": [],
        "whole": True,
        "results_shape": library.results_shape,
        "independent_problem": _independent_problem(found) if together else None,
    }


def _independent_problem(found: Found) -> dict[str, str]:
    return {
        "code": "environment_failed",
        "message": f"environment {found.id} has group rewards: its rollouts cannot be scored by themselves",
        "hint": "Leave --independent-scoring out.",
    }
