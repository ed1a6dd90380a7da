"""Calls Anthropic's SDK itself, and takes no turn."""

import verifiers as vf
from datasets import Dataset


class Raw(vf.SingleTurnEnv):
    async def setup_state(self, state):
        sdk = state["client"].client
        asked = {"model": "mine", "max_tokens": 5, "messages": [{"role": "user", "content": "Hello"}]}
        state["texts"] = [(await sdk.messages.create(**asked)).content[0].text]
        raw = await sdk.messages.with_raw_response.create(**asked)
        state["texts"].append(raw.http_response.json()["content"][0]["text"])
        state["final_env_response"] = [{"role": "user", "content": "That is all."}]
        return state


def load_environment():
    return Raw(dataset=Dataset.from_list([{"question": "Go", "answer": ""}]), rubric=vf.Rubric(funcs=[lambda state: float(len(state["texts"]))]))
