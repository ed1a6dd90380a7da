"""Serves one environment written for the `verifiers` library over HTTP: the environment's side of docs/environment-protocol.md.

`python -m edgewise_env NAME|PATH` is the way in; see README.md. The modules, from the outside in:

serving        the process: two event loops, and their end
server         HTTP: health, conversations
conversation   one conversation on its way in and out
session        what is done with each message
units          rollouts that are played and scored, kept apart, and what became of them
calls          model calls that the other side makes, and the ways to them
library        the release of verifiers that is there
prime          Prime's command line
"""

VERSION = "0.1.0"
