"""Edits of a program, one node at a time: those that make it wrong, and those that may mend it."""
