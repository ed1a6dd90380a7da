"""Verdicts of math-verify, as verifiers' MathRubric calls it: stdin has a JSON array of [expected, response]; stdout gets one line per
pair, `index verdict seconds`, verdict 1 or 0, or `T` where the call ran into its time limit (there: a score of 0).

    python3 math_verdicts.py < pairs.json
"""

import json
import logging
import sys
import warnings

from verifiers.rubrics.math_rubric import verify_response

logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")
TIMEOUT_SECONDS = 5
MAX_CHARS = 50_000

for index, (expected, response) in enumerate(json.load(sys.stdin)):
    # The rubric takes a comparison that lasted longer than its limit for wrong.
    score, elapsed = verify_response(response, expected, MAX_CHARS, TIMEOUT_SECONDS)
    print(index, "T" if elapsed > TIMEOUT_SECONDS else int(score), f"{elapsed:.3f}", flush=True)
