"""The public answer keys of a kit, compressed, and their sizes against a budget. Equal keys give equal bytes."""

import lzma
from collections.abc import Sequence
from dataclasses import replace

from autograder.answer_key import AnswerKey, Keys, to_record
from autograder.course import (
    Course,
    Exercise,
    is_kit,
    key_file,
    load_suite,
)
from autograder.protocol import Value, split_frame, write_frame
from autograder.report import kilobytes

SMALLEST_WINDOW = 4096


def packed_key(key: AnswerKey) -> bytes:
    """Return the key of an exercise for a kit."""
    return _packed(to_record(key), align=2)


def packed_traces(traced: Value) -> bytes:
    """Return the intermediate results of the solution under one check, for a kit."""
    return _packed(traced, align=0)


def _packed(record: Value, align: int) -> bytes:
    """Compress a record; `align` is the binary logarithm of the size in bytes of most of its numbers.

    Its text and its numbers are two streams, as they are of different kinds; a decompressor joins them.
    """
    text, numbers = split_frame(write_frame(record))
    return _compressed(text, literal=3, align=0) + _compressed(numbers, literal=0, align=align)


def _compressed(data: bytes, *, literal: int, align: int) -> bytes:
    filters = [
        {
            "id": lzma.FILTER_LZMA2,
            "preset": 9,
            "dict_size": max(len(data), SMALLEST_WINDOW),  # the preset's own takes 64 MB and most of the time
            "lc": literal,
            "lp": align,
            "pb": align,
        }
    ]
    return lzma.compress(data, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=filters)


# The size of an exercise's answer key in a kit, and its budget: a kit should stay a quick download.

MOST_KEY_BYTES = 600_000
"""The budget of one exercise. The kit of this course, with 28 exercises, has 6.5 MB of keys."""

WARNED_SHARE = 0.8
REMEDY = "use smaller [sizes] in course.toml, fewer checks of whole models, or observe less in the checks"


MOST_NAMED = 3
"""The largest checks that a sentence about a large key names."""


class KeySize(int):
    """The size in bytes of a key, and, if it is large, the largest checks with their sizes, the largest first."""

    largest: tuple[tuple[str, int], ...] = ()


def packed(exercise: Exercise, keys: Keys) -> dict[str, bytes]:
    """Return the answer key of an exercise as the files of a kit, and remember its size.

    Raises `GraderProblem` if the key cannot be made.
    """
    files = {key_file(exercise): packed_key(keys.get(exercise))}
    for check in keys.suite.checks[exercise.id]:
        files[key_file(exercise, check.id)] = packed_traces(keys.traced(exercise, check))
    keys.note_size(exercise, sum(map(len, files.values())))
    return files


def measured(exercise: Exercise, keys: Keys) -> KeySize:
    """Return the size of an exercise's key in a kit, which is made unless its size is known."""
    known = keys.known_size(exercise)
    size = KeySize(known if known is not None else sum(map(len, packed(exercise, keys).values())))
    if size >= WARNED_SHARE * MOST_KEY_BYTES:
        size.largest = _largest(exercise, keys)
    return size


def _largest(exercise: Exercise, keys: Keys) -> tuple[tuple[str, int], ...]:
    """Return the largest checks, as if a key held nothing but one of them."""
    key = keys.get(exercise)
    sizes = {
        check.id: len(packed_key(_only(key, check.id))) + len(packed_traces(keys.traced(exercise, check)))
        for check in keys.suite.checks[exercise.id]
    }
    return tuple(sorted(sizes.items(), key=lambda item: -item[1])[:MOST_NAMED])


def _only(key: AnswerKey, check: str) -> AnswerKey:
    """Return what a key holds for one check."""
    reference = {at: expected for at, expected in key.reference.items() if at[0] == check}
    outcomes = ({at: one for at, one in wrong.outcomes.items() if at[0] == check} for wrong in key.misconceptions)
    wrongs = (replace(wrong, outcomes=own) for wrong, own in zip(key.misconceptions, outcomes, strict=True))
    return AnswerKey(reference, tuple(wrongs))


def known_sizes(course: Course, exercises: Sequence[Exercise]) -> dict[str, int | None]:
    """Return the sizes in bytes of the answer keys in a kit by exercise; None for one that was not measured.

    In a kit they are those of its files.
    """
    if is_kit(course):
        folders = {exercise.id: (course.root / key_file(exercise)).parent for exercise in exercises}
        return {id_: sum(file.stat().st_size for file in folder.glob("*.xz")) for id_, folder in folders.items()}
    with Keys(load_suite(course, exercises), seed=course.seed) as keys:
        return {exercise.id: keys.known_size(exercise) for exercise in exercises}


def problem_of(exercise: str, size: int | None) -> str | None:
    """Return a sentence for a key that is too large for a kit."""
    if size is None or size <= MOST_KEY_BYTES:
        return None
    return f"the answer key of {exercise} has {of_budget(size)}, so `course release` refuses it{_named(size)}; {REMEDY}"


def warning_of(exercise: str, size: int | None) -> str | None:
    """Return a sentence for a key that fills its budget, or nearly."""
    if size is None or not WARNED_SHARE * MOST_KEY_BYTES <= size <= MOST_KEY_BYTES:
        return None
    fills = "fills" if kilobytes(size) == kilobytes(MOST_KEY_BYTES) else "nearly fills"
    return f"the answer key of {exercise} has {of_budget(size)}: it {fills} its budget{_named(size)}"


def _named(size: int) -> str:
    largest = size.largest if isinstance(size, KeySize) else ()
    listed = ", ".join(f"{check} {kilobytes(own)}" for check, own in largest)
    return f" (largest checks: {listed})" if listed else ""


def of_budget(size: int) -> str:
    """Return a size beside the budget: `92 kB of 600 kB`."""
    return f"{kilobytes(size)} of {kilobytes(MOST_KEY_BYTES)}"
