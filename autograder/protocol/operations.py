"""Properties of torch's operations that follow from their names, for the worker's traces and the judge."""

_IN_PLACE = frozenset({"__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__"})


def is_in_place(name: str) -> bool:
    """Say whether an operation changes a tensor in place: torch ends the names of these with one underscore."""
    return name in _IN_PLACE or (name.endswith("_") and not name.endswith("__"))


KINDS = (
    frozenset(["mul", "div", "true_divide", "truediv", "rmul", "rdiv", "rtruediv", "mul_", "div_", "imul", "itruediv"]),
    frozenset(["add", "sub", "radd", "rsub", "iadd", "isub"]),
)
"""Groups of operations that learners write in place of one another."""
