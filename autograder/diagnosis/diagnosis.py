"""The diagnosis of a failed check: all that is known of it, as values, before it is put into words."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from autograder.answer_key.model import Misconception
from autograder.messages import Fact
from autograder.messages.constants import Coefficient
from autograder.messages.locations import Divergence
from autograder.results import Evidence, Place
from autograder.results.model import FindingKind


@dataclass(frozen=True)
class Diagnosis:
    """Why a check failed: a fact about a part, `subject`, and the misconception behind it, if it is a known one.

    With `is_all` the misconception alone gives what was observed; with `more` it cannot be the only mistake.
    `words` name the sizes that the coefficient may be made of. `quoted` has the library's own words. With
    `only_some_sizes` the same code is right for other sizes.
    """

    kind: FindingKind
    fact: Fact
    subject: str = ""
    coefficient: Coefficient | None = None
    words: Mapping[str, str | None] = field(default_factory=dict)
    only_some_sizes: bool = False
    quoted: str | None = None
    place: Place | None = None
    evidence: Evidence | None = None
    misconception: Misconception | None = None
    is_all: bool = False
    more: bool = False


UNEXPLAINED = ("value", "special", "other")
"""The ids of findings that say only that something differs."""


@dataclass(frozen=True)
class Location:
    """Where a mistake was found: at a known statement, else at the line where the values diverge.

    With `is_origin` it is the line that makes the plain number which is wrong there. `first_mistake` is a misconception
    that the line is known from, though it does not explain everything. `proved` says that an edit there makes the check
    pass and leaves no mistake of this kind. `is_likely` says that it mends some checks, while others fail still. It
    also says that the line is the first of several statements of a misconception, or the head of a function.
    `is_one_of_several` says that a mistake was found on another line too.
    """

    place: Place
    divergence: Divergence | None = None
    is_origin: bool = False
    first_mistake: Misconception | None = None
    proved: bool = False
    is_likely: bool = False
    is_one_of_several: bool = False

    @property
    def is_known(self) -> bool:
        """Whether the statement is one of a misconception's, rather than where values diverge."""
        return self.divergence is None and not (self.is_origin or self.proved or self.is_likely)
