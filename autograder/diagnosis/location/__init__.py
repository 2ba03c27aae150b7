"""Finds the line where a program first diverges from the solution."""
