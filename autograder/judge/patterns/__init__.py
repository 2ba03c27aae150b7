"""Mechanical patterns of a difference: what turns the wrong numbers into the right ones."""

from autograder.judge.patterns.axes import Axes, agreed
from autograder.judge.patterns.case import Case
from autograder.judge.patterns.detectors import explain, recognise
from autograder.judge.patterns.pattern import Pattern, Row, Shown

__all__ = ["Axes", "Case", "Pattern", "Row", "Shown", "agreed", "explain", "recognise"]
