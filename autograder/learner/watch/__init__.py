"""Checking at every save: the files that are polled, the keys, the warm worker, and the session of them all."""
