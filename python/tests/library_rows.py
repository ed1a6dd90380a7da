"""Rows as the library itself makes and saves them, with a model server of its own: `python -m tests.library_rows ROLLOUTS MODULE...` prints them."""

from __future__ import annotations

import asyncio
import json
import sys

from aiohttp import web

from .scripted import respond


async def serve() -> tuple[web.AppRunner, str]:
    """A server of the scripted model; its address."""

    async def answer(request: web.Request) -> web.Response:
        return web.json_response(respond(await request.json()))

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner, f"http://127.0.0.1:{runner.addresses[0][1]}/v1"


async def rows(module: str, url: str, rollouts: int) -> list[str]:
    import verifiers as vf
    from verifiers.types import ClientConfig
    from verifiers.serve.types import RunGroupResponse
    from verifiers.utils.save_utils import make_serializable

    environment = vf.load_environment(module, **({"judge_url": url} if module == "judged" else {}))
    outputs = await environment.evaluate(client=ClientConfig(api_base_url=url, api_key_var="JUDGE_KEY"), model="m", rollouts_per_example=rollouts, state_columns=[])
    # As they are when they come from a process of the library's server, which `vf-eval` starts unless it is told not to.
    served = RunGroupResponse(outputs=outputs["outputs"]).model_dump(mode="python", warnings=False)
    return [json.dumps(output, default=make_serializable) for output in served["outputs"]]


async def main(rollouts: int, modules: list[str]) -> None:
    runner, url = await serve()
    for module in modules:
        for line in await rows(module, url, rollouts):
            print("ROW", module, line)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2:]))
