"""Use cases: what each command does, and one JSON view per noun."""
