"""Run a plan of checks in confined worker processes, and read their answers as hostile data."""
