"""The answer key: made from the solutions, or read from a released kit."""
