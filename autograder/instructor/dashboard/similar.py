"""Submissions that are more similar than those of others, found by copydetect, which compares fingerprints of code.

Names, comments and the order of functions are ignored. So is code that was handed out or that many students share,
since short exercises have few right answers.
"""

import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from autograder.instructor.dashboard.misconceptions import without_comment
from autograder.runner.runner import EnvironmentProblem

if TYPE_CHECKING:
    from copydetect import CodeFingerprint

LENGTH = 40
"""The characters of a fingerprint, each name counted as one: two or three lines. The window of copydetect is 1, so that
all fingerprints are compared: with a larger one it samples them differently in each process."""

LEAST_SHARE = 0.6
LEAST_SHARED = 120
"""Two files are listed from this share of a file's own characters on, and from this many: shorter ones match by chance.
"""

MOST_COMMON, LEAST_COMMON, COMMON_PART = 10, 3, 6
"""Code that more than a sixth of the class has belongs to nobody; the limit is at least 3 and at most 10 students."""

Sources = Mapping[str, Mapping[str, str]]
"""The source texts of a class, by student id and file."""

Lines = tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Alike:
    """One file of two students: the similar shares of their own characters, and the lines that have them."""

    file: str
    shares: tuple[float, float]
    shared: int
    lines: tuple[Lines, Lines]


@dataclass(frozen=True)
class Pair:
    """Two students by their ids, and their similar files, the most similar first."""

    students: tuple[str, str]
    files: tuple[Alike, ...]

    @property
    def shared(self) -> int:
        """The number of shared characters in all files together."""
        return sum(alike.shared for alike in self.files)


def pairs_of(sources: Sources, stubs: Mapping[str, str]) -> tuple[Pair, ...]:
    """Return the similar pairs, the most similar first; `stubs` is the code that was handed out, by file.

    Raises `EnvironmentProblem` if the library is not installed.
    """
    files = sorted({file for own_files in sources.values() for file in own_files})
    similar: dict[tuple[str, str], list[Alike]] = defaultdict(list)
    for file in files:
        texts = {student: own_files[file] for student, own_files in sources.items() if file in own_files}
        for students, alike in _in_file(file, texts, stubs.get(file, "")):
            similar[students].append(alike)
    pairs = [
        Pair(students, tuple(sorted(alikes, key=lambda alike: -alike.shared))) for students, alikes in similar.items()
    ]
    return tuple(sorted(pairs, key=lambda pair: (-pair.shared, pair.students)))


def _in_file(file: str, texts: Mapping[str, str], stub: str) -> list[tuple[tuple[str, str], Alike]]:
    compare = _library().compare_files
    prints = {student: _fingerprint(file, text) for student, text in texts.items()}
    counts = Counter(hash_ for fingerprint in prints.values() for hash_ in fingerprint.hashes)
    most = max(LEAST_COMMON, min(MOST_COMMON, len(texts) // COMMON_PART))
    common = {hash_ for hash_, count in counts.items() if count > most} | set(_fingerprint(file, stub).hashes)
    for fingerprint in prints.values():
        _leave_out(fingerprint, common)
    own = {student: _covered(fingerprint, fingerprint.hashes) for student, fingerprint in prints.items()}
    similar = []
    for one, other in _candidates(prints):
        both = prints[one].hashes & prints[other].hashes
        lengths = [_covered(prints[student], both) for student in (one, other)]
        shares = lengths[0] / own[one], lengths[1] / own[other]
        if max(shares) >= LEAST_SHARE and min(lengths) >= LEAST_SHARED:
            _, _, slices = compare(prints[one], prints[other])
            lines = _lines(texts[one], slices[0]), _lines(texts[other], slices[1])
            similar.append(((one, other), Alike(file, shares, min(lengths), lines)))
    return similar


def _library() -> Any:
    try:
        import copydetect
    except ImportError as error:
        problem = f"the comparison of submissions needs the package {error.name}, which is not installed"
        raise EnvironmentProblem(f"{problem}; install it in the kit's folder: pip install -e '.[similar]'") from None
    return copydetect


def _fingerprint(file: str, text: str) -> "CodeFingerprint":
    return _library().CodeFingerprint(file, LENGTH, 1, fp=io.StringIO(text), language="python")


def _leave_out(fingerprint: "CodeFingerprint", common: set[int]) -> None:
    """Remove the code that is not the student's own."""
    fingerprint.hashes = {hash_ for hash_ in fingerprint.hashes if hash_ not in common}
    fingerprint.hash_idx = {
        hash_: positions for hash_, positions in fingerprint.hash_idx.items() if hash_ in fingerprint.hashes
    }


def _candidates(prints: Mapping[str, "CodeFingerprint"]) -> list[tuple[str, str]]:
    """Return the pairs that share enough fingerprints to be compared in full."""
    students: dict[int, list[str]] = defaultdict(list)
    for student, fingerprint in prints.items():
        for hash_ in fingerprint.hashes:
            students[hash_].append(student)
    shared = Counter(pair for names in students.values() for pair in combinations(sorted(names), 2))
    # LEAST_SHARED characters in a row have LEAST_SHARED - LENGTH + 1 fingerprints.
    return sorted(pair for pair, count in shared.items() if count > LEAST_SHARED - LENGTH)


def _covered(fingerprint: "CodeFingerprint", hashes: Iterable[int]) -> int:
    """Return how many characters of a file these fingerprints cover together."""
    covered, end = 0, 0
    for start in sorted(int(start) for hash_ in hashes for start in fingerprint.hash_idx[hash_]):
        covered += start + LENGTH - max(start, end)
        end = start + LENGTH
    return covered


def _lines(text: str, slices: Any) -> Lines:
    """Return the lines of a text that have characters from `slices[0]` up to `slices[1]`.

    Comments are left out, since they may name students.
    """
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    numbers: set[int] = set()
    for begin, end in zip(*slices, strict=True):
        numbers |= {at for at in range(len(lines)) if starts[at] < end and starts[at + 1] > begin + 1}
    numbered = ((at + 1, without_comment(lines[at])) for at in sorted(numbers))
    return tuple((number, line) for number, line in numbered if line.strip())
