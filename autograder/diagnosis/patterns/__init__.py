"""Patterns of a difference: what turns the wrong numbers into the right ones."""
