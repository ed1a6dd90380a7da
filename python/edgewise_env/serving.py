"""The process: the rollouts' loop in the main thread, the server's in another, and their end."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable

from .library import Library
from .loading import Found
from .calls.loopback import Loopback
from .calls.model_clients import ModelClients
from .offspring import end_offspring
from .prints import capture
from .calls.relay import Callers
from .server import Server

# How long the environment may tear itself down, and how long a process whose loop hangs is waited for. Seconds.
TEARDOWN_S = 10.0
HANGING_S = 15.0


class ServerThread:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="edgewise-env-server", daemon=True)
        self._thread.start()

    async def run(self, work: Any) -> Any:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.loop))


async def serve(found: Found, library: Library, options: argparse.Namespace, token: str, tells_token: bool, say: Callable[[dict[str, Any]], None]) -> int:
    """Serves `found` until it is told to end. `say` says the first line. Raises `OSError` where the address cannot be had."""
    rollouts = asyncio.get_running_loop()
    capture(sys.stderr, os.environ.get("VF_LOG_LEVEL") or "INFO")
    # As the library's own workers have it: for environments that run their blocking parts in threads.
    rollouts.set_default_executor(ThreadPoolExecutor(max_workers=64))
    over = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        rollouts.add_signal_handler(number, over.set)
    if options.with_parent:
        _watch_parent(rollouts, over)
    callers = Callers()
    thread = ServerThread()
    loopback = Loopback(callers, rollouts)
    clients = ModelClients(library, callers, await thread.run(loopback.start()))
    server = Server(found, library, token, rollouts, callers, clients, options.concurrency)
    host, port = await thread.run(server.start(options.host, options.port))
    _quieten_collector()
    shown = f"[{host}]" if ":" in host else host
    first = {"url": f"http://{shown}:{port}", "environment": found.id, "version": found.version, "verifiers": library.version, "pid": os.getpid()}
    say({**first, **({"token": token} if tells_token else {})})
    await over.wait()
    await thread.run(server.stop())
    await _others_end(rollouts)
    await thread.run(loopback.stop())
    await clients.close()
    end_offspring()
    return 0


def _quieten_collector() -> None:
    """As the library's workers: what is loaded by now stays, and is not looked through again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(150_000, 10, 10)


def _watch_parent(rollouts: asyncio.AbstractEventLoop, over: asyncio.Event) -> None:
    """Ends this process when standard input ends: its parent is gone, or wants no more of it."""

    def watch() -> None:
        while os.read(0, 4096):
            pass
        rollouts.call_soon_threadsafe(over.set)
        # A loop that hangs in the environment's code ends nothing any more.
        timer = threading.Timer(HANGING_S, _give_up)
        timer.daemon = True
        timer.start()

    threading.Thread(target=watch, name="edgewise-env-parent", daemon=True).start()


def _give_up() -> None:
    end_offspring()
    os._exit(1)


async def _others_end(rollouts: asyncio.AbstractEventLoop) -> None:
    """Waits for what still cleans up."""
    others = asyncio.all_tasks(rollouts) - {asyncio.current_task()}
    if others:
        await asyncio.wait(others, timeout=TEARDOWN_S)
