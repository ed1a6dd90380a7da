"""Scores pairs of sentences straight from a server's token log-probabilities, with nothing of ours: the check that ours agree.

    python3 direct_scores.py BASE_URL MODEL FILE.jsonl COUNT

FILE has `sentence_good` and `sentence_bad` (BLiMP). One line of JSON for each of the first COUNT pairs: for both sentences the sum of the negative
log-probabilities of the tokens behind the first, and how many they are.
"""

import json
import sys
import urllib.request


def score(base, model, text):
    body = {"model": model, "prompt": text, "max_tokens": 1, "temperature": 0, "echo": True, "logprobs": 1}
    request = urllib.request.Request(
        base + "/completions",
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json", "authorization": "Bearer none"},
    )
    with urllib.request.urlopen(request, timeout=600) as response:
        answer = json.load(response)
    given = answer["choices"][0]["logprobs"]["token_logprobs"]
    own = given[: len(given) - answer["usage"]["completion_tokens"]]
    return {"nll": -sum(own[1:]), "tokens": len(own) - 1}


def main():
    base, model, path, count = sys.argv[1:5]
    with open(path, encoding="utf-8") as lines:
        for _, line in zip(range(int(count)), lines):
            pair = json.loads(line)
            good, bad = (score(base, model, pair["sentence_" + name]) for name in ("good", "bad"))
            print(json.dumps({"good": good, "bad": bad}), flush=True)


main()
