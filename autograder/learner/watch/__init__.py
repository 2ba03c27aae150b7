"""Checking at every save: polled files, keys, a warm worker, and the session that uses them."""
