"""What the names of torch's operations tell, for the worker that records them and the judge that reads the record."""

_WRITING = frozenset({"__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__"})


def writes(name: str) -> bool:
    """Whether an operation changes a tensor that is there: in torch its name ends with one underscore."""
    return name in _WRITING or (name.endswith("_") and not name.endswith("__"))


KINDS = (
    frozenset(["mul", "div", "true_divide", "truediv", "rmul", "rdiv", "rtruediv", "mul_", "div_", "imul", "itruediv"]),
    frozenset(["add", "sub", "radd", "rsub", "iadd", "isub"]),
)
"""Operations that are written for one another."""
