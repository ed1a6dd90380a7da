"""Serves one environment written for the `verifiers` library over HTTP: the environment's side of docs/environment-protocol.md.

`python -m edgewise_env NAME|PATH` is the way in; see README.md. The modules, from the outside in:

server         HTTP: health, conversations
conversation   one conversation on its way in and out
session        what is done with each message
playing        units of rollouts; `rollouts` keeps them apart, `unit_end` says what became of them
relay          model calls that the other side makes; `openai_client`, `anthropic_client`, `transport` and `loopback` are the ways to it
library        the release of verifiers that is there
"""

VERSION = "0.1.0"
