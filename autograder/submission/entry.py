"""One student's work where it lies, not yet read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from autograder.submission.found import Caps, SubmissionError
from autograder.submission.submission import Submission, digest, read_submission

Stamp = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class Entry:
    """What one student handed in last: whose it is, where it lies, and when it was handed in (UTC) if that is known.

    `student` names the report. `notes` are sentences about how it was chosen.
    """

    student: str
    path: Path
    handed_in: datetime | None = None
    notes: tuple[str, ...] = ()

    def read(self, files: Sequence[str], caps: Caps) -> Submission:
        """Return the submission; what cannot be read at all is one without files and with a note that says why."""
        try:
            read = read_submission(self.path, files, caps)
        except SubmissionError as error:
            note = str(error).replace(str(self.path), self.path.name)  # a report says nothing of where it was made
            return Submission(self.student, tuple(files), {}, digest({}), (*self.notes, note))
        return Submission(self.student, read.files, read.sources, read.digest, (*self.notes, *read.notes))

    def stamp(self) -> Stamp:
        """Return path, size and time of change (ns) of what there is to read: what is equal need not be read again."""
        paths = [self.path] if not self.path.is_dir() else sorted(each for each in self.path.rglob("*"))
        stats = [(each, each.lstat()) for each in paths]
        return tuple((str(each), stat.st_size, stat.st_mtime_ns) for each, stat in stats)
