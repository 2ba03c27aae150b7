"""Grading many submissions: what may be kept, what is run again, and how it outlives a crash."""
