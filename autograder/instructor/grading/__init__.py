"""Grading a class: which reports stand, which exercises run again, and how a run survives a crash."""
