"""A safe with a dial: tools that work on a state, in the MCP contract of openenv-core. The number is the seed's."""

from typing import Any, Optional

from fastmcp import FastMCP
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.mcp_environment import MCPEnvironment
from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation
from openenv.core.env_server.types import Action, Observation, State


class Safe(MCPEnvironment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        server = FastMCP("safe")
        self._state = State()
        self._number = 0
        self._dial = 0
        self._open = False

        @server.tool
        def turn(steps: int) -> int:
            """Turns the dial by some steps and tells where it stands, 0 to 9."""
            self._dial = (self._dial + steps) % 10
            return self._dial

        @server.tool
        def pull() -> dict:
            """Pulls the handle."""
            self._open = self._dial == self._number
            return {"open": self._open, "hint": None if self._open else ("higher" if self._dial < self._number else "lower")}

        @server.tool
        def kick() -> str:
            """Kicks the safe."""
            raise ValueError("that hurt")

        super().__init__(server)

    def reset(self, seed: Optional[int] = None, episode_id: Optional[str] = None, **_: Any) -> Observation:
        self._state = State(episode_id=episode_id, step_count=0)
        self._number, self._dial, self._open = (seed or 0) % 10, 0, False
        return Observation(metadata={"dial": 0})

    def step(self, action: Action, timeout_s: Optional[float] = None, **kwargs: Any) -> Observation:
        return self._after(super().step(action, timeout_s=timeout_s, **kwargs))

    async def step_async(self, action: Action, timeout_s: Optional[float] = None, **kwargs: Any) -> Observation:
        return self._after(await super().step_async(action, timeout_s=timeout_s, **kwargs))

    def _step_impl(self, action: Action, timeout_s: Optional[float] = None, **_: Any) -> Observation:
        raise TypeError("this environment has tools, and no other action")

    def _after(self, observation: Observation) -> Observation:
        self._state.step_count += 1
        observation.reward = 1.0 if self._open else -0.01
        observation.done = self._open
        return observation

    @property
    def state(self) -> State:
        return self._state


app = create_app(Safe, CallToolAction, CallToolObservation, env_name="safe", max_concurrent_envs=4)
