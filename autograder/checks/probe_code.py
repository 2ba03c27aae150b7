"""What the code of a check names, with the functions of its file that it uses."""

from collections.abc import Callable, Collection, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

CLOCKS = {
    *("time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "process_time"),
    *("now", "utcnow", "today", "uuid1", "uuid4", "token_bytes", "token_hex", "randbelow"),
}
"""Functions of modules whose results differ from run to run; `time.time` has the name of its module."""

CLOCK_MODULES = {"time", "datetime", "uuid", "secrets"}


def names_any(probe: Callable[..., Any], names: Collection[str]) -> bool:
    """Say whether a probe, or a function that it uses, has one of these names of attributes, functions or methods."""
    return any(not _names(function.__code__).isdisjoint(names) for function in _functions(probe))


def reads_clock(probe: Callable[..., Any]) -> bool:
    """Say whether a probe, or a function that it uses, reads a clock or random numbers that no seed sets."""
    for function in _functions(probe):
        names = _names(function.__code__)
        used = {name: function.__globals__.get(name) for name in names}
        for name, value in used.items():
            if isinstance(value, ModuleType) and value.__name__ in CLOCK_MODULES:
                if names & CLOCKS or (name == "time" and "sleep" not in names):
                    return True
            elif getattr(value, "__module__", "") in CLOCK_MODULES and name != "sleep":
                return True
    return False


def _functions(probe: Callable[..., Any]) -> Iterator[FunctionType]:
    """Yield a probe and the functions that it uses, each once."""
    seen: set[FunctionType] = set()
    left: list[Any] = [probe]
    while left:
        function = left.pop()
        if not isinstance(function, FunctionType) or function in seen:
            continue
        seen.add(function)
        yield function
        held = [cell.cell_contents for cell in function.__closure__ or ()]
        used = map(function.__globals__.get, _names(function.__code__))
        left += [*held, *(getattr(value, "make", None) for value in held), *used]


def _names(code: CodeType) -> set[str]:
    inner = [part for part in code.co_consts if isinstance(part, CodeType)]
    return {*code.co_names}.union(*map(_names, inner))
