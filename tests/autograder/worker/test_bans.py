"""What an exercise forbids is refused in its file alone, and only there."""

import builtins
from collections.abc import Callable
from typing import Any

import pytest

from autograder.worker.syntax import ForbiddenCallError, forbid

FILE = "ex01_own.py"


def own(source: str, names: dict[str, Any] | None = None) -> Callable[[], Any]:
    """Return the function `call` of a student's file."""
    space: dict[str, Any] = dict(names or {})
    exec(compile(source, FILE, "exec"), space)
    return space["call"]  # type: ignore[no-any-return]


REFUSED = {
    "a builtin": ("sum", "call = lambda: sum([1])"),
    "a builtin that is handed over": ("sum", "call = lambda total=sum: total([1])"),
    "a builtin by its module": ("sum", "import builtins\ncall = lambda: getattr(builtins, 's' + 'um')([1])"),
    "a method": ("list.sort", "call = lambda: [2, 1].sort()"),
    "a method of the class": ("list.sort", "call = lambda: list.sort([2, 1])"),
    "a function in C": ("math.factorial", "import math\ncall = lambda: math.factorial(3)"),
    "a function in Python": ("statistics.mean", "from statistics import mean as other\ncall = lambda: other([1])"),
    "a module in C": ("bisect", "import bisect\ncall = lambda: bisect.bisect([1], 1)"),
    "a class of a module": ("collections.Counter", "from collections import Counter\ncall = lambda: Counter('a')"),
    "a pattern": ("math.*cos*", "import math\ncall = lambda: math.acosh(2)"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_call_by_the_file_is_refused(what: str) -> None:
    name, source = REFUSED[what]
    call = own(source)
    call()
    with pytest.raises(ForbiddenCallError) as refused, forbid([name], [FILE]):
        call()
    assert str(refused.value).startswith(name.partition("*")[0])
    call()


def test_library_code_and_the_checks_may_call_everything() -> None:
    import statistics

    call = own("import statistics\ncall = lambda: statistics.fmean([2, 4])")
    with forbid(["sum", "list.sort", "math.fsum"], [FILE]) as ban:
        assert sum([1, 2]) == 3
        assert call() == statistics.fmean([2, 4])
        ban.check()


def test_a_function_that_the_module_only_imports_is_allowed() -> None:
    call = own("import math\ncall = lambda: math.sqrt(4)")
    with forbid(["statistics"], [FILE]) as ban:
        assert call() == 2
        ban.check()


def test_the_file_gets_builtins_that_refuse() -> None:
    with forbid(["set", "bisect", "os.path"], [FILE]) as ban:
        table = ban.builtins()
        assert table is not None
        with pytest.raises(ForbiddenCallError, match="set"):
            own("call = lambda: set()", {"__builtins__": dict(table)})()
        for line in ("import bisect", "from bisect import insort", "import os.path", "from os.path import join"):
            with pytest.raises(ForbiddenCallError):
                own(f"def call():\n    {line}", {"__builtins__": dict(table)})()
        own("import math, os\ncall = lambda: len([1])", {"__builtins__": dict(table)})()
    assert builtins.set is set


def test_a_refusal_that_is_caught_is_noticed() -> None:
    call = own("def call():\n    try:\n        sum([1])\n    except Exception:\n        pass")
    with forbid(["sum"], [FILE]) as ban:
        call()
        with pytest.raises(ForbiddenCallError, match="sum"):
            ban.check()


def test_a_package_is_refused_whether_or_not_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.import_module", lambda name: pytest.fail(f"{name} was imported"))
    with forbid(["package:no_such_package", "package:wave"], ["own.py"]) as ban:
        table = ban.builtins()
        assert table is not None
        for name, line in {"no_such_package": "import no_such_package.part", "wave": "from wave import open"}.items():
            with pytest.raises(ForbiddenCallError, match=name):
                own(f"{line}\ncall = None", {"__builtins__": dict(table)})


def test_an_object_with_a_call_of_python_is_no_reason_to_watch_every_call() -> None:
    with forbid(["numpy.vectorize"], [FILE]) as classes, forbid(["math.factorial"], [FILE]) as functions:
        assert (classes.watches, functions.watches) == (True, True)
    made = {"kernel": type("Kernel", (), {"__call__": lambda _: None})()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autograder.worker.syntax.resolve", made.get)
        with forbid(["kernel"], [FILE]) as ban:
            assert not ban.watches
