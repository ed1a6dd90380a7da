"""Other ways to the model than the library's: a stream, a raw response, an HTTP client and a process of its own."""

import asyncio
import json
import os
import sys

import verifiers as vf
from datasets import Dataset

PROGRAM = """
import json, sys, urllib.request
url = sys.argv[1]
models = json.load(urllib.request.urlopen(url + "/models"))["data"][0]["id"]
body = json.dumps({"model": "mine", "messages": [{"role": "user", "content": "from a process"}]}).encode()
answer = json.load(urllib.request.urlopen(urllib.request.Request(url + "/chat/completions", body, {"content-type": "application/json"})))
print(json.dumps([models, answer["choices"][0]["message"]["content"]]))
"""


class Agent(vf.SingleTurnEnv):
    async def setup_state(self, state):
        client = getattr(state["client"], "client", state["client"])
        asked = [{"role": "user", "content": "as a stream"}]
        stream = await client.chat.completions.create(model="mine", messages=asked, stream=True)
        state["streamed"] = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
        raw = await client.chat.completions.with_raw_response.create(model="mine", messages=[{"role": "user", "content": "raw"}])
        state["raw"] = [raw.status_code, raw.parse().choices[0].message.content]
        pipe = asyncio.subprocess.PIPE
        program = await asyncio.create_subprocess_exec(sys.executable, "-c", PROGRAM, str(client.base_url).rstrip("/"), stdout=pipe)
        state["program"] = json.loads((await program.communicate())[0])
        state["address"] = str(client.base_url)
        state["variables"] = [name for name in os.environ if name.startswith("EDGEWISE_")]
        return state


def load_environment(size: int = 1):
    rows = [{"question": f"Do {n}", "answer": ""} for n in range(size)]
    return Agent(dataset=Dataset.from_list(rows), rubric=vf.Rubric(funcs=[lambda completion: 1.0]))
