"""The standing of a learner in one exercise: its last result, its hints, and the work on it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

UNTRIED = ("not_started", "missing")


@dataclass(frozen=True)
class Standing:
    """The last result of one exercise, its first failure, and how many of that failure's hints were shown.

    `first_passed` is the time of the first pass, "" if unknown; `status` is the result now. `version` is the digest of
    the exercise, `file` that of the learner's file, and `hint_file` that of the file at the last hint. `attempts`
    counts runs of a changed file. `offering` says to show the second hint, `pausing` to advise a pause. Of the `todos`,
    `written` have code; `in_progress` says that some are open, and that what is written does not fail. `right` are the
    checks that pass, `newly_right` those of them that did not in the check before. `seconds_worked` is the time between
    commands, without long gaps. `answers` says how the question on each corrected misconception was answered.
    """

    status: str = "not_started"
    score: int = 0
    max_score: int = 0
    passing: int = 0
    checks: int = 0
    first_passed: str | None = None
    version: str | None = None
    check: str | None = None
    title: str | None = None
    finding: str | None = None
    hints: tuple[str, ...] = ()
    hints_shown: int = 0
    file: str | None = None
    hint_file: str | None = None
    first_at: str | None = None
    last_at: str | None = None
    runs: int = 0
    attempts: int = 0
    hints_taken: int = 0
    hints_now: int = 0
    solution_shown: str | None = None
    resets: int = 0
    same_runs: int = 0
    offering: bool = False
    pausing: bool = False
    in_progress: bool = False
    todos: int = 0
    written: int = 0
    seconds_worked: int = 0
    right: tuple[str, ...] = ()
    newly_right: tuple[str, ...] = ()
    levels: Mapping[str, int] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    recent: tuple[tuple[float, int], ...] = ()
    unknown: Mapping[str, Any] = field(default_factory=dict)

    @property
    def passes_now(self) -> bool:
        """Whether the last check passed."""
        return self.status == "pass"

    @property
    def ever_passed(self) -> bool:
        """Whether it passed once, even if it fails again."""
        return self.first_passed is not None

    @property
    def broken(self) -> bool:
        """Whether it passed once, and fails now."""
        return self.ever_passed and not self.passes_now

    def stale(self, version: str) -> bool:
        """Return whether the result is about another version of the exercise."""
        return self.runs > 0 and self.version not in (None, version) and self.status not in UNTRIED

    def to_json(self) -> dict[str, Any]:
        """Return the standing as JSON data, with values that a later version wrote."""
        data = asdict(self)
        unknown = data.pop("unknown")
        return {**unknown, **data, "passes_now": self.passes_now}


_KNOWN = {field.name: field.default for field in fields(Standing) if field.name != "unknown"}
_DERIVED = ("passes_now", "ever_passed")


def standing_of(data: Mapping[str, Any]) -> Standing:
    """Return a standing from its JSON, also of an earlier version. Raises ValueError or TypeError if it is none."""
    known = {name: data[name] for name in _KNOWN if name in data}
    if data.get("ever_passed") is True and known.get("first_passed") is None:
        known["first_passed"] = ""
    known["hints"] = tuple(str(hint) for hint in known.get("hints", ()))
    for name in ("right", "newly_right"):
        known[name] = tuple(str(check) for check in known.get(name, ()))
    known["recent"] = tuple((float(at), int(edited)) for at, edited in known.get("recent", ()))
    known["levels"] = {str(name): int(level) for name, level in dict(known.get("levels", {})).items()}
    known["answers"] = {str(name): str(answer) for name, answer in dict(known.get("answers", {})).items()}
    unknown = {str(name): value for name, value in data.items() if name not in _KNOWN and name not in _DERIVED}
    standing = Standing(**known, unknown=unknown)
    for name, default in _KNOWN.items():
        value = getattr(standing, name)
        if isinstance(default, int) and not isinstance(value, int):
            raise ValueError(f"{name} is no number")
        if isinstance(default, str | None) and not isinstance(value, str | None):
            raise ValueError(f"{name} is no text")
    return standing


def standings_of(data: Mapping[str, Any]) -> dict[str, Standing]:
    """Return standings from their JSON; entries that are none are skipped."""
    standings = {}
    for name, standing in data.items():
        try:
            standings[str(name)] = standing_of(standing)
        except (ValueError, TypeError, AttributeError, KeyError):
            continue
    return standings
