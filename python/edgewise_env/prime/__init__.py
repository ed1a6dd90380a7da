"""Prime's command line, with evaluations that are ours."""
