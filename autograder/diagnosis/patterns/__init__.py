"""Patterns of a difference: what turns the wrong numbers into the right ones."""

from autograder.diagnosis.patterns.axes import Axes, agreed
from autograder.diagnosis.patterns.case import Case
from autograder.diagnosis.patterns.detectors import explain, recognise
from autograder.diagnosis.patterns.pattern import Pattern, Row, Sample

__all__ = ["Axes", "Case", "Pattern", "Row", "Sample", "agreed", "explain", "recognise"]
