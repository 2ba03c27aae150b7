"""Reads the answer keys of a released kit, which has no solutions to make them from.

A key is found by the name of its exercise, as the digest in its own name needs files that a kit lacks. So the manifest
says what it was made for, and anything else is refused with a sentence.
"""

import hashlib
import json
import lzma
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from autograder.checks import Check, Key
from autograder.course import MANIFEST, Exercise, Suite, files_of_rooms, is_kit, key_file, read_plain
from autograder.formats import KEY
from autograder.protocol import ProtocolError, read_frame
from autograder.runner import EnvironmentProblem, GraderProblem

from .key import AnswerKey, Failures, from_record, reference_from_record
from .keys import KEY_LIMITS, MAKES_KEYS, Keys, traces_of

if TYPE_CHECKING:
    from autograder.runner import RecordedTrace


ENGINE = Path(__file__).parents[1]
ANEW = "take it out of the kit anew"
Read = TypeVar("Read")


@dataclass(frozen=True)
class Manifest:
    """What a kit was made of: its files by their digests, and the seed and the sizes that its keys are for.

    `parts` has the sizes of the parts that have some of their own.
    """

    seed: int
    sizes: list[dict[str, int]]
    parts: Mapping[str, list[dict[str, int]]]
    files: Mapping[str, str]


def file_digest(data: bytes) -> str:
    """Return the digest of a file of a kit, whatever the ends of its lines have become on the way."""
    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()


def engine_files() -> list[Path]:
    """Return the files of the engine that answer keys depend on."""
    return sorted(files_of_rooms(*MAKES_KEYS))


def read_manifest(root: Path) -> Manifest:
    """Return the manifest of a kit. Raises `EnvironmentProblem`."""
    try:
        data = json.loads(read_plain(root / MANIFEST))
        if problem := KEY.problem_of(data.get("format")):
            raise EnvironmentProblem(problem)
        files = {str(name): str(digest) for name, digest in data["files"].items()}
        parts = {str(part): [dict(column) for column in columns] for part, columns in data.get("parts", {}).items()}
        return Manifest(int(data["seed"]), [dict(column) for column in data["sizes"]], parts, files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise EnvironmentProblem(f"{MANIFEST} cannot be read ({error}); {ANEW}") from error


def open_keys(suite: Suite, **options: Any) -> Keys:
    """Return what finds the answer keys of a suite: in the kit, or by running the solutions. Takes what `Keys` takes.

    Raises `EnvironmentProblem` where the keys of a kit do not fit its checks.
    """
    return (KitKeys if is_kit(suite.course) else Keys)(suite, **options)


class KitKeys(Keys):
    """The answer keys of a kit. Raises `EnvironmentProblem` where they are for another seed, engine, size or check."""

    def __init__(self, suite: Suite, **options: Any) -> None:
        super().__init__(suite, **options)
        self.manifest = read_manifest(suite.course.root)
        self._read_before: dict[str, AnswerKey] = {}
        for problem in _misfits(suite, self.manifest, self.seed, self.device):
            raise EnvironmentProblem(problem)

    def get(
        self,
        exercise: Exercise,
        failures: Failures | None = None,  # noqa: ARG002
        *,
        known: AnswerKey | None = None,  # noqa: ARG002
    ) -> AnswerKey:
        """Return the whole key of an exercise; raises `GraderProblem` where it is missing or damaged."""
        if exercise.id not in self._read_before:
            self._read_before[exercise.id] = self._unpacked(key_file(exercise), from_record)
        return self._read_before[exercise.id]

    def reference(self, exercise: Exercise) -> AnswerKey:
        """Return the key without its catalogue, unless all of it was read."""
        known = self._read_before.get(exercise.id)
        return known if known is not None else self._unpacked(key_file(exercise), reference_from_record)

    def traces(self, exercise: Exercise, check: Check) -> "Mapping[Key, RecordedTrace]":
        """Return what the solution computes on its way, by trial."""
        return self._unpacked(key_file(exercise, check.id), partial(traces_of, check))

    def _unpacked(self, name: str, form: Callable[[Any], Read]) -> Read:
        try:
            packed = read_plain(self.suite.course.root / name)
            if file_digest(packed) != self.manifest.files.get(name):
                raise ValueError("it is not the file that the kit came with")
            return form(read_frame(BytesIO(lzma.decompress(packed)).read, KEY_LIMITS))
        except (OSError, ProtocolError, lzma.LZMAError, LookupError, AttributeError, TypeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise GraderProblem(f"the answer key {name} cannot be read ({reason}); {ANEW}") from error


def _misfits(suite: Suite, manifest: Manifest, seed: int, device: str) -> Iterable[str]:
    """Yield why the keys of a kit are not those of a suite."""
    course = suite.course
    if seed != manifest.seed:
        yield (
            f"this kit has answer keys for the seed {manifest.seed} only, not for {seed}: those of another seed are "
            "made from the solutions, which are not part of it; leave --seed out, and the seed in course.toml as it was"
        )
    if device != "cpu":
        yield (
            f"the answer keys of this kit were made on the CPU, and those for {device} are made there from the "
            "solutions, which are not part of it: leave --device out; what is made on a wrong device is found without"
        )
    parts = {part.id: [dict(column) for column in part.sizes] for part in course.parts if part.sizes}
    if ([dict(column) for column in course.sizes], parts) != (manifest.sizes, manifest.parts):
        yield f"[sizes] in course.toml is not what the kit came with, and its answer keys are for that; {ANEW}"
    for exercise in suite.exercises:
        name = f"{course.checks_dir.relative_to(course.root).as_posix()}/test_{exercise.id}.py"
        if file_digest(suite.sources[f"test_{exercise.id}.py"]) != manifest.files.get(name):
            yield f"{name} is not the file that the kit came with, and its answer key is for that one; {ANEW}"
    for file in engine_files():
        name = f"{ENGINE.name}/{file.relative_to(ENGINE).as_posix()}"
        if file_digest(file.read_bytes()) != manifest.files.get(name):
            yield (
                f"{name} of the engine that runs here is not the one that the kit came with, and its answer keys are "
                "for that one; install the kit again: pip install -e ."
            )
