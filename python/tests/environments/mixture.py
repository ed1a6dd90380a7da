"""Two environments as one."""

import calculator
import single_turn
import verifiers as vf


def load_environment(size: int = 1):
    return vf.EnvGroup(envs=[single_turn.load_environment(size), calculator.load_environment(size)], env_names=["facts", "sums"])
