"""Mutants: small changes of a solution, and the checks that notice them."""
