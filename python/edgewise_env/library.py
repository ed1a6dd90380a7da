"""The release of verifiers that is there, and the parts of it that are used."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Callable

from .failures import Failure

# Releases that the tests were run with, first and last: docs/python-environments.md says which.
OLDEST = (0, 1, 10)
NEWEST = (0, 3)
INSTALL = "pip install 'verifiers==0.1.14'"


@dataclass(frozen=True)
class Library:
    """What is used of verifiers, whichever release it is."""

    version: str
    load_environment: Callable[..., Any]
    state_to_output: Callable[..., Any]
    make_serializable: Callable[[object], Any]
    # Its clients by the names of their classes; null in releases that take an SDK's client as it is.
    clients: Any | None
    client_config: type
    error: type
    rubric_group: type
    normalize_messages: Callable[..., Any] | None
    # Columns of an example that its server takes, and so `vf-eval` unless it is told not to start one; null in releases without: all are played with.
    input_keys: frozenset[str] | None

    @property
    def results_shape(self) -> str:
        """Which of the engine's shapes (`RESULTS_SHAPES`) the rows of this release have."""
        release = release_of(self.version)
        if release >= (0, 1, 14):
            return "0.1.14"
        return "0.1.13"


def release_of(version: str) -> tuple[int, ...]:
    """The numbers of a version: `0.1.14.dev2` is (0, 1, 14)."""
    return tuple(int(part) for part in re.findall(r"\d+", re.split(r"[a-z+]|\.dev", version)[0]))


def check_release(version: str) -> None:
    """Raises `Failure` for a release that is not served."""
    release = release_of(version)
    if release < OLDEST or release[:2] > NEWEST:
        raise Failure(
            "environment_failed",
            f"verifiers {version} is installed, and this package serves environments of the releases from 0.1.10 to 0.3",
            f"Install one of them beside the environment: {INSTALL}",
        )


def find_library() -> Library:
    """Imports verifiers. Raises `Failure` with the command that installs it where it is absent or too old or new."""
    try:
        version = metadata.version("verifiers")
    except metadata.PackageNotFoundError:
        raise Failure("environment_failed", "this Python has no verifiers library", f"Install it: {INSTALL}") from None
    check_release(version)
    try:
        import verifiers as vf
        from verifiers.errors import Error
        from verifiers.types import ClientConfig
        from verifiers.utils.save_utils import make_serializable, state_to_output

        messages, columns = _normalize_messages(), _input_keys()
        return Library(version, vf.load_environment, state_to_output, make_serializable, _clients(), ClientConfig, Error, vf.RubricGroup, messages, columns)
    except ImportError as missing:
        raise Failure(
            "environment_failed",
            f"verifiers {version} cannot be used by this package: {missing}",
            f"Install a release that it serves: {INSTALL}",
        ) from missing


def _clients() -> Any | None:
    try:
        from verifiers import clients

        return clients
    except ImportError:
        return None


def _input_keys() -> frozenset[str] | None:
    """Its server's requests have examples as a typed dictionary, whose other keys are left out where they are sent."""
    try:
        from verifiers.serve.types import RunGroupRequest  # noqa: F401
        from verifiers.types import RolloutInput
    except ImportError:
        return None
    return frozenset(RolloutInput.__required_keys__ | RolloutInput.__optional_keys__)


def _normalize_messages() -> Callable[..., Any] | None:
    """Makes the library's messages of plain ones; null in releases whose messages are plain."""
    try:
        from verifiers.utils.message_utils import normalize_messages

        return normalize_messages
    except ImportError:
        return None
