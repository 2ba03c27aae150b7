"""The check to look at first: the one that the screen explains, whose place is looked for, and that hints are about."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from autograder.results.model import Status


class Checked(Protocol):
    """A check that was judged."""

    @property
    def status(self) -> "Status": ...

    @property
    def bonus(self) -> bool: ...

    @property
    def of(self) -> str | None:
        """The function or class that the check calls."""

    @property
    def mistake(self) -> str | None:
        """The id of the misconception or convention that explains the failure."""


Failed = TypeVar("Failed", bound=Checked)


def first_failing(checks: Sequence[Failed]) -> Failed | None:
    """Return the check to look at first: the first that fails by a named mistake, else the first that does not pass.

    If most checks of that function or class raise an exception and none by that mistake, the exception comes first: it
    hides what is behind it. What is not written yet comes after what fails. A check that only waits, or is a bonus,
    comes last.
    """
    failing = sorted((check for check in checks if check.status != "pass"), key=_lateness)
    judged = [check for check in failing if check.status not in ("waits", "not_started")] or failing
    first = _first_named(judged)
    same = [check for check in judged if first is not None and check.of == first.of]
    raising = [check for check in same if check.status == "error"]
    if first is None or 2 * len(raising) <= len(same):
        return first
    is_its_cause = first.mistake is not None and first.mistake in {check.mistake for check in raising}
    return first if first in raising or is_its_cause else _first_named(raising)


def _lateness(check: Checked) -> tuple[bool, ...]:
    return check.status == "waits", check.bonus, check.status == "not_started"


def _first_named(checks: Sequence[Failed]) -> Failed | None:
    return next((check for check in checks if check.mistake is not None), checks[0] if checks else None)
