"""Checks that did not run, that wait, or whose worker process ended."""

from autograder.messages.elements import joined
from autograder.messages.wording import Fact, Wording, opened


class WorkerEnded(Fact):
    """The worker process ended; `reason` is the sentence about it, `status` the status of the check.

    If not `ran`, it ended before this check.
    """

    status: str
    reason: str
    ran: bool = True

    @property
    def id(self) -> str:
        return self.status if self.ran else "not_run"

    def wording(self) -> Wording:
        return Wording(opened(self.reason), whole=True)


class FileMissing(Fact):
    """The file of the exercise was not found; `unread` names what of the submission could not be read."""

    file: str
    unread: str

    id = "missing"

    def wording(self) -> Wording:
        if self.unread:
            says = f"{self.file} was not found, and a part of the submission could not be read"
            return Wording(says, asks=f"{self.unread}.", whole=True)
        return Wording(f"There is no file {self.file}", whole=True)


class FileUnread(Fact):
    """The file of the exercise is there and could not be read, for a reason."""

    reason: str

    id = "unread"

    def wording(self) -> Wording:
        return Wording(self.reason, asks="None of its checks was run.", whole=True)


class NothingRead(Fact):
    """No file of the submission could be read."""

    id = "held"

    def wording(self) -> Wording:
        says = "No file of the assignment could be read in your hand-in"
        return Wording(says, asks="It has no score until your teacher decides.", whole=True)


class WorkElsewhere(Fact):
    """The file that counts has no work, or less than another one; `reason` is the sentence about both."""

    reason: str

    id = "held"

    def wording(self) -> Wording:
        return Wording(self.reason, asks="It has no score until your teacher decides.", whole=True)


class GraderFailed(Fact):
    """The kit itself failed."""

    reason: str

    id = "grader"

    def wording(self) -> Wording:
        return Wording("The grader itself failed; this is not your fault", asks=self.reason, whole=True)


class CourseFileWrong(Fact):
    """A file that the author of the course wrote is wrong."""

    reason: str

    id = "course_file"

    def wording(self) -> Wording:
        return Wording("A file of this course is wrong; this is not your fault", asks=self.reason, whole=True)


class EarlierUnwritten(Fact):
    """The code uses another file that is not written yet."""

    file: str
    earlier: str

    id = "waits"

    def wording(self) -> Wording:
        return Wording(f"{self.file} uses {self.earlier}, which is not written yet", whole=True)


class CheckRequired(Fact):
    """A check that passes counts only if one of these passes too: their ids, with their titles."""

    checks: tuple[tuple[str, str], ...]

    id = "waits"

    def wording(self) -> Wording:
        names = [f"`{name}`" for name, _ in self.checks]
        which = names[0] if len(names) == 1 else f"one of {joined(names, 'or')}"
        titles = "\n".join(f"`{name}`: {title}" for name, title in self.checks)
        return Wording(f"This counts as soon as {which} passes", asks=titles, whole=True)
