"""Compares an observation with what is expected."""
