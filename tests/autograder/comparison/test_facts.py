"""Facts are frozen dataclasses, made when they are needed: a program that starts has a hundred kinds of them."""

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, dataclass, field, replace
from threading import Event
from typing import Any

import pytest

from autograder.comparison import ValuesDiffer
from autograder.results import Fact, Wording, report


class Wide(Fact):
    """A fact of a test."""

    width: int
    trial: int = field(default=0, compare=False)
    id = "wide"

    def wording(self) -> Wording:
        """Say how wide it is."""
        return Wording(f"it is {self.width} wide")


class Wider(Wide):
    """A fact with a field more."""

    by: int = 1


def test_a_kind_of_fact_is_a_dataclass_from_its_first_object_on() -> None:
    assert "__init__" not in vars(Wider)
    wider = Wider(3, 7, by=2)
    assert (wider.width, wider.trial, wider.by) == (3, 7, 2)
    assert repr(wider) == "Wider(width=3, trial=7, by=2)"
    assert (Wide(3), Wide(3, 5)) == (Wide(3, 1), Wide(3)), "a trial is no part of the fact"
    assert len({Wider(3), Wider(3, 9), Wider(4)}) == 2


def test_threads_that_make_a_first_object_at_once_wait_for_its_class(monkeypatch: pytest.MonkeyPatch) -> None:
    class Narrow(Wide):
        """A fact that no other test makes."""

    begun, may_end = Event(), Event()

    def slow(**options: Any) -> Callable[[type], type]:
        def decorate(kind: type) -> type:
            kind.__dataclass_fields__ = {}  # type: ignore[attr-defined]
            begun.set()
            assert may_end.wait(60)
            del kind.__dataclass_fields__  # type: ignore[attr-defined]
            return dataclass(**options)(kind)

        return decorate

    monkeypatch.setattr(report, "dataclass", slow)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(Narrow, 3)
        assert begun.wait(60)
        second = pool.submit(Narrow, 3)
        try:
            with pytest.raises(TimeoutError):
                second.result(timeout=0.2)
        finally:
            may_end.set()
        assert first.result() == second.result()


def test_a_fact_is_frozen_and_can_be_copied() -> None:
    fact = ValuesDiffer(1, 2)
    with pytest.raises(FrozenInstanceError):
        fact.count = 3
    assert copy.deepcopy(fact) == fact == pickle.loads(pickle.dumps(fact))
    assert replace(fact, count=2) == ValuesDiffer(2, 2)
