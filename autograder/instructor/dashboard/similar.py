"""Submissions that are more alike than those of others: by copydetect, which compares fingerprints of code.

The names in the code, its comments and its order of functions do not count. What was handed out does not either, nor
what many of the class have written alike: short exercises have few right answers.
"""

import io
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from autograder.instructor.dashboard.why import without_comment
from autograder.runner.runner import EnvironmentProblem

if TYPE_CHECKING:
    from copydetect import CodeFingerprint

LENGTH = 40
"""So many characters have to be alike in a row, every name counted as one: two or three lines. All are compared, and
not a choice of them: the library makes that choice in another way in each process."""

LEAST_SHARE = 0.6
LEAST_SHARED = 120
"""From such a share of a file's own characters on, and so many of them, two files are listed."""

MOST_COMMON, LEAST_COMMON, COMMON_PART = 10, 3, 6
"""What more than a sixth of the class has, but never fewer than 3 and no more than 10, is nobody's own."""

Sources = Mapping[str, Mapping[str, str]]
"""The texts of a class, by the id of the student and by file."""

Lines = tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Alike:
    """One file of two students: the shares of their own characters that are alike, and the lines with them."""

    file: str
    shares: tuple[float, float]
    shared: int
    lines: tuple[Lines, Lines]


@dataclass(frozen=True)
class Pair:
    """Two students by their ids, and the files in which they are alike, the most alike first."""

    students: tuple[str, str]
    files: tuple[Alike, ...]

    @property
    def shared(self) -> int:
        """How many characters are alike in all of the files together."""
        return sum(alike.shared for alike in self.files)


def pairs_of(sources: Sources, stubs: Mapping[str, str]) -> tuple[Pair, ...]:
    """Return the pairs that are alike, those with most in common first; `stubs` is what was handed out, by file.

    Raises `EnvironmentProblem` where the library is not installed.
    """
    files = sorted({file for theirs in sources.values() for file in theirs})
    found: dict[tuple[str, str], list[Alike]] = defaultdict(list)
    for file in files:
        texts = {student: theirs[file] for student, theirs in sources.items() if file in theirs}
        for students, alike in _in_file(file, texts, stubs.get(file, "")):
            found[students].append(alike)
    pairs = [Pair(students, tuple(sorted(alike, key=lambda file: -file.shared))) for students, alike in found.items()]
    return tuple(sorted(pairs, key=lambda pair: (-pair.shared, pair.students)))


def _in_file(file: str, texts: Mapping[str, str], stub: str) -> list[tuple[tuple[str, str], Alike]]:
    compare = _library().compare_files
    prints = {student: _fingerprint(file, text) for student, text in texts.items()}
    having = Counter(hash_ for fingerprint in prints.values() for hash_ in fingerprint.hashes)
    most = max(LEAST_COMMON, min(MOST_COMMON, len(texts) // COMMON_PART))
    common = {hash_ for hash_, count in having.items() if count > most} | set(_fingerprint(file, stub).hashes)
    for fingerprint in prints.values():
        _leave_out(fingerprint, common)
    own = {student: _covered(fingerprint, fingerprint.hashes) for student, fingerprint in prints.items()}
    found = []
    for one, other in _candidates(prints):
        both = prints[one].hashes & prints[other].hashes
        lengths = [_covered(prints[student], both) for student in (one, other)]
        shares = lengths[0] / own[one], lengths[1] / own[other]
        if max(shares) >= LEAST_SHARE and min(lengths) >= LEAST_SHARED:
            _, _, slices = compare(prints[one], prints[other])
            lines = _lines(texts[one], slices[0]), _lines(texts[other], slices[1])
            found.append(((one, other), Alike(file, shares, min(lengths), lines)))
    return found


def _library() -> Any:
    try:
        import copydetect
    except ImportError as error:
        found = f"similar submissions are looked for with the package {error.name}, which is not installed"
        raise EnvironmentProblem(f"{found}; install it in the kit's folder: pip install -e '.[similar]'") from None
    return copydetect


def _fingerprint(file: str, text: str) -> "CodeFingerprint":
    return _library().CodeFingerprint(file, LENGTH, 1, fp=io.StringIO(text), language="python")


def _leave_out(fingerprint: "CodeFingerprint", common: set[int]) -> None:
    """Take from a file what is not its own."""
    fingerprint.hashes = {hash_ for hash_ in fingerprint.hashes if hash_ not in common}
    fingerprint.hash_idx = {
        hash_: places for hash_, places in fingerprint.hash_idx.items() if hash_ in fingerprint.hashes
    }


def _candidates(prints: Mapping[str, "CodeFingerprint"]) -> list[tuple[str, str]]:
    """Return the pairs that have enough in common to be looked at."""
    having: dict[int, list[str]] = defaultdict(list)
    for student, fingerprint in prints.items():
        for hash_ in fingerprint.hashes:
            having[hash_].append(student)
    shared = Counter(pair for students in having.values() for pair in combinations(sorted(students), 2))
    return sorted(pair for pair, count in shared.items() if count > LEAST_SHARED - LENGTH)


def _covered(fingerprint: "CodeFingerprint", hashes: set[int]) -> int:
    """Return how many characters of a file the stretches of these fingerprints cover together."""
    covered, end = 0, 0
    for place in sorted(int(place) for hash_ in hashes for place in fingerprint.hash_idx[hash_]):
        covered += place + LENGTH - max(place, end)
        end = place + LENGTH
    return covered


def _lines(text: str, slices: Any) -> Lines:
    """Return the lines of a text that some of its characters from `slices[0]` up to `slices[1]` stand in.

    Their comments, in which somebody may be thanked by name, are left out.
    """
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    found = set()
    for begin, end in zip(*slices, strict=True):
        found |= {at for at in range(len(starts) - 1) if starts[at] < end and starts[at + 1] > begin + 1}
    lines = text.split("\n")
    shown = ((at + 1, without_comment(lines[at])) for at in sorted(found))
    return tuple((number, line) for number, line in shown if line.strip())
