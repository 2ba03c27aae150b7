"""The format of a compiled reference part: a pool of constants, and functions as rows of numbers.

A part is JSON: `format`, `exports` (a name of the contract to an item), `pool` and `items`. An entry of the pool is a
constant, a list with the dotted name of a library function, or a list with the number of an item. An item is a
function `[FUNCTION, name, registers, parameters, defaults, rows]` or a class `[CLASS, name, methods]`, all in numbers.
An operand is a register if it is 0 or more, and else a constant: -1 is the first of the pool. A row begins with what
it does.
"""

FORMAT = 1

FUNCTION, CLASS = 0, 1

CALL = 0
"""`CALL target callee count`, so many operands, then pairs: the constant with a keyword, and its operand."""

TUPLE = 1
"""`TUPLE target`, then the operands."""

MOVE = 2
"""`MOVE target operand`."""

JUMP = 3
"""`JUMP row`."""

UNLESS = 4
"""`UNLESS operand row`: jump where the operand is false."""

NEXT = 5
"""`NEXT target iterator row`: jump where the iterator has ended."""

RETURN = 6
"""`RETURN operand`."""

RAISE = 7
"""`RAISE operand`: a ValueError with this message."""
