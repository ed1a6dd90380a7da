"""Units of rollouts: played and scored with the library's own functions."""
