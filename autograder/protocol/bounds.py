"""Upper bounds for everything a worker sends about a program. The worker keeps to them; the judge refuses more.

The worker cuts or omits whatever is longer. So an answer beyond these bounds was written by a student's code.
"""

from autograder.protocol.values import writable

# Numbers and texts of any answer
MOST_SECONDS = 1e6
"""Longer than any check can run, and small enough that the sum of many runs is still a finite number."""

MOST_LINE = 1 << 24
"""The largest line or column number: no accepted file has more bytes."""

MOST_NAME = 100
"""Characters in the name of a file, a function, a variable or a type."""

# What a check returned
OBSERVATION_DEPTH = 8
OBSERVATION_PARTS = 1000
OBSERVATION_TEXT = 4_000
"""Characters of a text, and bytes of a byte string."""

OBSERVATION_KEY = 200
OBSERVATION_ELEMENTS = 1 << 21
"""Elements of one tensor: with the largest dtype they just fill the blob of a frame (16 MiB)."""

INT_BITS = 62
"""Bits of an int: any such number, negated or added to another one, still fits into 64 bits."""

# An exception
FAULT_BASES = 8
FAULT_MESSAGE = 1_000
FAULT_FRAMES = 21
"""Frames of an exception; the last may be the location of a syntax error."""

FAULT_VALUES = 100
"""Tensors in those frames, at most `FRAME_VALUES` in each."""

FRAME_VALUES = 8

# What the syntax of a file shows
SURVEY_PLACES = 200
SURVEY_FUNCTIONS = 200
SURVEY_RETURNS = 20
"""Lines of one function: its definition, then its returns. The reports use at most two."""

SURVEY_FORBIDDEN = 100
SURVEY_STATEMENTS = 2_000
SURVEY_ASSIGNMENTS = 500
SURVEY_HELPERS = 20
STATEMENT_HASH = 16

# The intermediate results of a program
TRACE_FILES = 256
TRACE_PLACES = 1_000
"""Eight times as many source positions as an honest program of the course has."""

TRACE_STEPS = 800
TRACE_INPUTS = 8
TRACE_STACK = 6
TRACE_RESULTS = 16
TRACE_PARTS = 2 * TRACE_FILES + 7 * TRACE_PLACES + TRACE_STEPS * 40
"""Nodes in the longest trace: a step has eight fields, of which five are lists."""

TRACE_NAME = 60
TRACE_DTYPE = 20
TRACE_AXES = 12
TRACE_ELEMENTS = 1 << 17
BEYOND = 1e4
"""A larger number of a trace is treated as infinity: learners fill masks with -inf, -1e9 or the like."""

# The values of plain variables in such a trace
CALL, ARGUMENT, VALUE = "call", "argument", "value"
"""The names of its steps: a call by the check, an argument of a function, and what a statement made."""

PLAIN_NUMBERS = 1 << 10
"""Numbers that stand for one value; larger values are not recorded."""

PLAIN_DEPTH = 6


def cut(text: str, most: int = MOST_NAME) -> str:
    """Return the beginning of a text, exactly as the judge will receive it."""
    return writable(text[:most])[:most]  # writing out a surrogate makes the text longer, so cut twice


def line_number(line: int | None) -> int:
    """Return a line or column number within bounds; 0 where Python knows none."""
    return min(max(int(line or 0), 0), MOST_LINE)
