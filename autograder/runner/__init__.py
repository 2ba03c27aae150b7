"""Runs a plan of checks in confined workers and reads what comes back as hostile."""
