"""What the embedded model learns: problems, their wordings and answers, and which of them training may never see.

The environment `arithmetic` (src/environments/bundled/arithmetic) makes the same held-out problems in TypeScript. Levels and
wordings are read from its problems.json; the rule of the split, the order of the problems and the choice of the wording are
written twice, and test/rules/environments/arithmetic.test.ts compares both by the fixture that fixtures.py writes.
"""

import json
import random
import string
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SPEC = json.loads((ROOT / "src/environments/bundled/arithmetic/problems.json").read_text())
OPERATIONS = list(SPEC["phrasings"])
DIFFICULTIES = list(SPEC["levels"])
COMMUTATIVE = {"addition", "multiplication"}
TEXT = {"reverse", "sort"}

# (operation, a, b) of numbers, (operation, letters) of texts
Problem = tuple[str, int, int] | tuple[str, str]


def canonical(problem: Problem) -> str:
    """One spelling per problem; the smaller number first where order makes no difference."""
    operation, *operands = problem
    return ":".join(map(str, [operation, *(sorted(operands) if operation in COMMUTATIVE else operands)]))


def mix(state: int) -> int:
    """Next value of splitmix32, as in src/mix.ts."""
    z = (state + 0x9E3779B9) & 0xFFFFFFFF
    z = ((z ^ (z >> 16)) * 0x21F0AAAD) & 0xFFFFFFFF
    z = ((z ^ (z >> 15)) * 0x735A2D97) & 0xFFFFFFFF
    return z ^ (z >> 15)


def mix_seed(seed: int) -> int:
    return mix(mix(seed & 0xFFFFFFFF) ^ (seed >> 32))


def is_held_out(problem: Problem) -> bool:
    """One problem in ten, by the FNV-1a hash of its canonical spelling, mixed."""
    value = 0x811C9DC5
    for byte in canonical(problem).encode():
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return mix(value) % 10 == 0


def answer(problem: Problem) -> str:
    match problem:
        case ("addition", a, b):
            return str(a + b)
        case ("subtraction", a, b):
            return str(a - b)
        case ("multiplication", a, b):
            return str(a * b)
        case ("reverse", letters):
            return letters[::-1]
        case ("sort", letters):
            return "".join(sorted(letters))
    raise ValueError(f"no such problem: {problem}")


def question(problem: Problem, choice: int) -> str:
    phrasings = SPEC["phrasings"][problem[0]]
    names = ("s",) if problem[0] in TEXT else ("a", "b")
    return phrasings[choice % len(phrasings)].format(**dict(zip(names, problem[1:])))


def prompt(question: str) -> str:
    """The chat template of the model (src/embedded-model/chat-template.ts)."""
    return f"Q: {question}\nA: "


# --- Training -----------------------------------------------------------------------------------------------------------------

# Shares of the operations, and of the sizes of their operands: digits of numbers, letters of texts.
OPERATION_SHARES = {"addition": 1.2, "subtraction": 1.2, "multiplication": 2.2, "reverse": 0.6, "sort": 0.8}
LARGER_OPERAND = {1: 1.0, 2: 3.5, 3: 3.0, 4: 1.5}
FACTORS = {(1, 1): 1.0, (1, 2): 5.0, (2, 2): 1.0, (1, 3): 1.5}
LETTERS = range(2, 11)


def _choice(rng: random.Random, shares: dict):
    return rng.choices(list(shares), list(shares.values()))[0]


def _number(rng: random.Random, digits: int) -> int:
    return rng.randrange(0 if digits == 1 else 10 ** (digits - 1), 10**digits)


def training_problem(rng: random.Random) -> Problem:
    """A random problem that is not held out."""
    while True:
        operation = _choice(rng, OPERATION_SHARES)
        if operation in TEXT:
            problem = (operation, "".join(rng.choices(string.ascii_lowercase, k=rng.choice(LETTERS))))
        else:
            if operation == "multiplication":
                digits = _choice(rng, FACTORS)
            else:
                larger = _choice(rng, LARGER_OPERAND)
                digits = (larger, larger if rng.random() < 0.6 else rng.randint(1, larger))
            a, b = (_number(rng, count) for count in digits)
            problem = (operation, a, b) if rng.random() < 0.5 else (operation, b, a)
        if not is_held_out(problem):
            return problem


def training_text(rng: random.Random) -> tuple[str, str]:
    """Prompt and answer of a random problem in a random wording."""
    problem = training_problem(rng)
    return prompt(question(problem, rng.getrandbits(16))), answer(problem)


# --- Held-out problems, as the environment makes them ---------------------------------------------------------------------------


def _permuted(index: int, size: int, key: int) -> int:
    half = 2 ** max(1, ((size - 1).bit_length() + 1) // 2)
    value = index
    while True:
        left, right = divmod(value, half)
        for round_ in range(4):
            left, right = right, left ^ (mix(mix((key + round_) & 0xFFFFFFFF) ^ right) % half)
        value = left * half + right
        if value < size:
            return value


def held_out_problems(operation: str, difficulty: str, seed: int) -> Iterator[Problem]:
    """Every held-out problem of an operation at a level, once, in the environment's order."""
    level = SPEC["levels"][difficulty][operation]
    key = mix(mix_seed(seed) ^ OPERATIONS.index(operation))
    if operation in TEXT:
        size = 26 ** level["letters"]
    else:
        (a_from, a_to), (b_from, b_to) = level["a"], level["b"]
        columns = b_to - b_from + 1
        size = (a_to - a_from + 1) * columns
    for index in range(size):
        place = _permuted(index, size, key)
        if operation in TEXT:
            letters = []
            for _ in range(level["letters"]):
                place, letter = divmod(place, 26)
                letters.append(string.ascii_lowercase[letter])
            problem = (operation, "".join(letters))
        else:
            a, b = a_from + place // columns, b_from + place % columns
            if operation in COMMUTATIVE and a > b and b >= a_from and a <= b_to:
                continue
            problem = (operation, a, b)
        if not is_held_out(problem):
            continue
        if operation in COMMUTATIVE and mix(key ^ index) % 2 == 0:
            problem = (operation, problem[2], problem[1])
        yield problem


def environment_rows(operation: str, difficulty: str, seed: int, count: int) -> list[tuple[str, str]]:
    """Questions and answers of the environment's first rows with one operation; fewer when there are fewer problems."""
    wording = mix_seed(seed)
    rows = []
    for problem in held_out_problems(operation, difficulty, seed):
        rows.append((question(problem, mix(wording ^ len(rows))), answer(problem)))
        if len(rows) == count:
            break
    return rows
