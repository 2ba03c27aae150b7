"""The most of everything that a worker sends about a program: it keeps to this, and the judge refuses more.

What is longer is cut, or left out, in the worker. So an answer beyond these bounds was written by a student's code.
"""

from autograder.protocol.values import writable

# Numbers and texts of any answer
MOST_SECONDS = 1e6
"""No run of a check can have taken longer, and the sum of many is still a number."""

MOST_LINE = 1 << 24
"""The largest number of a line or of a column: no file that is taken has more bytes."""

MOST_NAME = 100
"""Characters of a name: of a file, a function, a variable or a type."""

# What a check returned
OBSERVATION_DEPTH = 8
OBSERVATION_PARTS = 1000
OBSERVATION_TEXT = 4_000
OBSERVATION_KEY = 200
OBSERVATION_ELEMENTS = 1 << 21
"""Elements of one tensor: a frame holds as many of the largest dtype."""

INT_BITS = 62

# An exception
FAULT_BASES = 8
FAULT_MESSAGE = 1_000
FAULT_FRAMES = 21
"""Frames of an exception; the last may be the place of a syntax error."""

FAULT_VALUES = 100
"""Tensors in those frames; `FRAME_VALUES` in each."""

FRAME_VALUES = 8

# What the syntax of a file says
SURVEY_PLACES = 200
SURVEY_RETURNS = 20
"""Lines of one function: of its definition, then of its returns. Nobody looks at more than two."""

SURVEY_FORBIDDEN = 100
SURVEY_STATEMENTS = 2_000
SURVEY_ASSIGNMENTS = 500
STATEMENT_HASH = 16

# What a program computes on its way
TRACE_FILES = 256
TRACE_PLACES = 1_000
"""Eight times as many as an honest program of the course has."""

TRACE_STEPS = 800
TRACE_INPUTS = 8
TRACE_STACK = 6
TRACE_RESULTS = 16
TRACE_PARTS = 2 * TRACE_FILES + 7 * TRACE_PLACES + TRACE_STEPS * 40
"""Parts of the longest trace: a step has eight, of which five have parts themselves."""

TRACE_NAME = 60
TRACE_DTYPE = 20
TRACE_AXES = 12
TRACE_ELEMENTS = 1 << 17


def cut(text: str, most: int = MOST_NAME) -> str:
    """Return the beginning of a text, as it will arrive."""
    return writable(text[:most])[:most]


def line_number(line: int | None) -> int:
    """Return the number of a line or a column as it may be sent; 0 where Python knows none."""
    return min(max(int(line or 0), 0), MOST_LINE)
