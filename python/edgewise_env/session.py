"""The environment's side of one conversation: what is done with each message. Of the event loop's thread."""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import logging
import os
from typing import Any, Callable, Iterator

from .arguments import check_arguments, resolve_arguments
from .describing import facts_of
from .examples import Examples, page
from .failures import Failure, crossing, said
from .library import Library
from .loading import Found
from .missing_variables import missing_variables, needs_variables
from .preparing import Preparing
from .calls.model_clients import ModelClients
from .outbox import Outbox
from .units.playing import PlayedUnit
from .prints import Prints, of_work
from .calls.relay import Callers, Relays
from .units.rollouts import keep_apart
from .signals import keep_signals
from .units.stored import ScoredUnit
from .traits import traits_of
from .units.unit import Unit, UnitHost

PROTOCOL_VERSION = 1
logger = logging.getLogger(__name__)


class Session:
    """One conversation's environment, units and reads."""

    def __init__(self, found: Found, library: Library, outbox: Outbox, callers: Callers, clients: ModelClients, concurrency: int | None, preparing: Preparing, on_close: Callable[[], None]):
        self._found = found
        self._library = library
        self._outbox = outbox
        self._callers = callers
        self._clients = clients
        self._concurrency = concurrency
        self._preparing = preparing
        self._on_close = on_close
        self._loop = asyncio.get_running_loop()
        self._relays = Relays(self._loop, outbox)
        self._host: UnitHost | None = None
        self._units: dict[int, Unit] = {}
        self._reads: dict[int, Iterator[str]] = {}
        self._variables: dict[str, str | None] = {}
        self._at_exit: list[Callable[..., Any]] = []
        prints = Prints(outbox.put)
        self._context = contextvars.copy_context()
        # What is printed may be printed in any thread.
        self._context.run(of_work.set, lambda level, text: self._loop.call_soon_threadsafe(prints.print, level, text) and None)
        self.is_over = False

    @property
    def units(self) -> int:
        """Units that are open."""
        return len(self._units)

    def take(self, batch: list[dict[str, Any]]) -> None:
        """Does what the messages of a batch ask for."""
        try:
            for message in batch:
                self._context.run(self._take, message)
        except Exception:
            # The other side says what is none of the protocol: there is nothing to go on with.
            logger.exception("a message could not be taken")
            self._on_close()

    def _take(self, message: dict[str, Any]) -> None:
        kind = message["type"]
        if kind == "answer":
            self._relays.answered(message)
        elif kind == "permitted":
            self._relays.permitted(message["call"])
        elif kind in ("play", "score"):
            self._begin(PlayedUnit if kind == "play" else ScoredUnit, message)
        elif kind == "abort":
            for unit in list(self._units.values()):
                if message["signal"] in (unit.order["stops"], unit.order["stops_generation"]):
                    unit.abort(message["signal"])
        elif kind == "scoring_turn":
            unit = self._units.get(message["unit"])
            if unit is not None:
                unit.turn.set()
        elif kind == "read":
            self._read(message)
        elif kind == "read_next":
            self._page(message["read"])
        elif kind == "read_end":
            self._reads.pop(message["read"], None)
        elif kind in ("describe", "check", "resolve_args", "open"):
            self._answer(kind, message)
        elif kind == "close":
            self._loop.create_task(self._close())
        # What else there is concerns turns that are kept and data sets of the other side: there are none of either here.

    def _answer(self, kind: str, message: dict[str, Any]) -> None:
        """Answers one of the messages that begin."""
        try:
            if message.get("v") != PROTOCOL_VERSION:
                raise Failure("environment_failed", f"the messages have version {message.get('v')}; this environment's side knows {PROTOCOL_VERSION}")
            self._outbox.put(getattr(self, f"_{kind}")(message))
        except Exception as error:
            self._outbox.put({"type": "failed", "error": crossing(error)})

    def _describe(self, _message: dict[str, Any]) -> dict[str, Any]:
        return {"type": "described", "facts": facts_of(self._found, self._library)}

    def _check(self, message: dict[str, Any]) -> dict[str, Any]:
        request = message["request"]
        problem = None
        try:
            check_arguments(self._found.module.load_environment, request.get("env_args") or {})
        except Failure as failure:
            problem = {"option": "env_args", "message": failure.message.removeprefix("env_args.")}
        if problem is None and request.get("rubric") is not None:
            problem = {"option": "rubric", "message": f"{self._found.id} is an environment in Python, and its rubric is its own"}
        return {"type": "checked", "problem": problem}

    def _resolve_args(self, message: dict[str, Any]) -> dict[str, Any]:
        return {"type": "resolved", "args": resolve_arguments(self._found.module.load_environment, message["args"])}

    def _open(self, message: dict[str, Any]) -> dict[str, Any]:
        if self._host is not None:
            raise Failure("environment_failed", "the environment is open already")
        if message["rubric"] is not None:
            raise Failure("invalid_request", f"{self._found.id} is an environment in Python, and its rubric is its own")
        check_arguments(self._found.module.load_environment, message["args"])
        self._set_variables({**message["variables"], **message["keys"]})
        with self._preparing.time():
            environment = self._load(message["args"], message["extra"])
        keep_apart(environment)
        examples = Examples(environment, self._found.id, self._library.input_keys)
        self._host = UnitHost(environment, self._library, examples, self._outbox, self._relays, self._callers, self._clients, self._loop)
        return {"type": "opened", "traits": traits_of(environment, self._found, self._library, message["args"], message["extra"])}

    def _load(self, args: dict[str, Any], extra: dict[str, Any]) -> Any:
        registered: list[Callable[..., Any]] = []
        register = atexit.register

        def noting(work: Callable[..., Any], *given: Any, **named: Any) -> Callable[..., Any]:
            registered.append(work)
            return register(work, *given, **named)

        atexit.register = noting  # type: ignore[assignment]
        try:
            with keep_signals():
                environment = self._made(args)
                if extra:
                    environment.set_kwargs(**extra)
                # The share of this process, whatever all of them are told together.
                if self._concurrency is not None and hasattr(environment, "set_concurrency"):
                    environment.set_concurrency(self._concurrency)
        finally:
            atexit.register = register  # type: ignore[assignment]
        # The library tears environments down at the end of the process, and holds them until then.
        self._at_exit = [work for work in registered if work.__module__.startswith("verifiers")]
        if environment.env_id == self._found.load_as:
            environment.env_id = self._found.id
        return environment

    def _made(self, args: dict[str, Any]) -> Any:
        try:
            return self._library.load_environment(self._found.load_as, **args)
        except SystemExit as error:
            # It would end the process, and its reason with it.
            raise Failure("environment_failed", f"load_environment of {self._found.id} ended with SystemExit: {said(error)}") from None
        except Exception as error:
            missing = missing_variables(error)
            if not missing:
                raise
            raise needs_variables(self._found.id, missing) from None

    def _set_variables(self, values: dict[str, str]) -> None:
        for name, value in values.items():
            if name.startswith("EDGEWISE_"):
                continue
            self._variables[name] = os.environ.get(name)
            os.environ[name] = value

    def _opened(self) -> UnitHost:
        if self._host is None:
            raise Failure("environment_failed", "the environment is not open")
        return self._host

    def _begin(self, kind: type[Unit], order: dict[str, Any]) -> None:
        unit = kind(self._opened(), order)
        self._units[unit.number] = unit
        unit.task = self._loop.create_task(unit.run())
        unit.task.add_done_callback(lambda _: self._units.pop(unit.number, None))

    def _read(self, message: dict[str, Any]) -> None:
        self._reads[message["read"]] = self._opened().examples.crossing(message["count"])
        self._page(message["read"])

    def _page(self, read: int) -> None:
        rows = self._reads.get(read)
        if rows is None:
            return
        try:
            # The first page may fetch the data set.
            with self._preparing.time():
                taken, done = page(rows)
            # No size: the engine would tell of the tasks that were not asked for as not run, which verifiers says of no data set.
            head = f'{{"type":"examples","read":{read},"done":{"true" if done else "false"},"size":null'
            self._outbox.put_text(f'{head},"rows":[{",".join(taken)}]}}')
        except Exception as error:
            done = True
            self._outbox.put({"type": "examples", "read": read, "rows": [], "done": True, "size": None, "error": crossing(error)})
        if done:
            self._reads.pop(read, None)

    async def _close(self) -> None:
        try:
            await self.end()
            self._outbox.put({"type": "closed"})
        except Exception as error:
            self._outbox.put({"type": "failed", "error": crossing(error)})
        self._outbox.flush()
        self._on_close()

    async def end(self) -> None:
        """Ends what is under way, and tears the environment down. Raises what that raises."""
        if self.is_over:
            return
        self.is_over = True
        tasks = [unit.task for unit in self._units.values() if unit.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        host, self._host = self._host, None
        try:
            if host is not None:
                await self._context.run(self._loop.create_task, host.environment._teardown())
        except Exception:
            logger.exception("the environment could not be torn down")
            raise
        finally:
            for work in self._at_exit:
                atexit.unregister(work)
            for name, value in self._variables.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
