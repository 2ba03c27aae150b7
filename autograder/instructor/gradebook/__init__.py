"""Gradebooks: the roster, the grading policy, and exports in the formats of other systems."""
