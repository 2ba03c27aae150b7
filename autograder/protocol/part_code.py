"""The format of a compiled reference part: a pool of constants, and functions as rows of numbers.

A part is JSON: `format`, `exports` (from a name of the contract to the number of an item), `pool` and `items`. An entry
of the pool is a constant, a list with the dotted name of a library function, or a list with the number of an item. An
item is a function `[FUNCTION, name, registers, parameters, defaults, rows]`, a module `[CLASS, name, methods]` or a
class without a base `[PLAIN, name, methods]`; all fields are numbers. An operand of 0 or more is a register, a negative
one a constant: -1 is the first of the pool. The first number of a row is its operation, one of those below.
"""

FORMAT = 1

FUNCTION, CLASS, PLAIN = 0, 1, 2

CALL = 0
"""`CALL target callee count`, then `count` operands, then for each keyword argument its name and its operand."""

TUPLE = 1
"""`TUPLE target`, then the operands it is made of."""

MOVE = 2
"""`MOVE target operand`."""

JUMP = 3
"""`JUMP row`."""

UNLESS = 4
"""`UNLESS operand row`: jump if the operand is false."""

NEXT = 5
"""`NEXT target iterator row`: jump if the iterator has ended."""

RETURN = 6
"""`RETURN operand`."""

RAISE = 7
"""`RAISE operand`: raise a ValueError with this message."""
