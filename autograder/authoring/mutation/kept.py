"""The outcomes of mutants, kept in `.course`: a run that was stopped goes on where it ended."""

import contextlib
import hashlib
import json
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Any

from autograder.authoring.mutation.witness import Witness
from autograder.course import Exercise
from autograder.course.digest import digest_of_parts
from autograder.course.libraries import versions_of
from autograder.course.storage import read_plain, state_folder, write_atomically
from autograder.course.suite import Suite, engine_digest


class Outcomes:
    """The check that catches each mutant, None for a survivor, and the witnesses of survivors.

    `without_gradient` has the survivors that detach a value which has a gradient in no trial.
    After a change of the solution or the checks, nothing is kept but the `hints`: which check caught a mutant before.
    """

    def __init__(self, file: Path, digest: str, search: str, *, fresh: bool = False) -> None:
        """`digest` is that of everything that decides what is caught, `search` that of the search for witnesses."""
        self.file = file
        self.digest = digest
        self.search = search
        self.caught: dict[str, str | None] = {}
        self.witnesses: dict[str, Witness | None] = {}
        self.without_gradient: set[str] = set()
        self.hints: dict[str, str] = {}
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self._read(json.loads(read_plain(file)), fresh=fresh)

    def _read(self, record: dict[str, Any], *, fresh: bool) -> None:
        caught = {str(id_): str(check) if check is not None else None for id_, check in record["caught"].items()}
        self.hints = {str(id_): str(check) for id_, check in record["hints"].items()}
        if record["digest"] == self.digest and not fresh:
            self.caught = caught
            if record["search"] == self.search:
                found = record["witnesses"].items()
                self.without_gradient = set(record["without_gradient"])
                self.witnesses = {id_: _witness(data) if data else None for id_, data in found}
        else:
            self.hints |= {id_: check for id_, check in caught.items() if check is not None}

    def save(self) -> None:
        """Write the outcomes, whole or not at all. A folder that cannot be written only costs time."""
        # Copies, because other threads add outcomes meanwhile.
        witnesses = {id_: asdict(found) if found else None for id_, found in dict(self.witnesses).items()}
        record = {
            "digest": self.digest,
            "search": self.search,
            "caught": dict(self.caught),
            "hints": self.hints,
            "witnesses": witnesses,
            "without_gradient": sorted(set(self.without_gradient)),
        }
        with contextlib.suppress(OSError):
            write_atomically(self.file, json.dumps(record))


def _witness(data: dict[str, Any]) -> Witness:
    return Witness(**{**data, "inputs": tuple(data["inputs"])})


def outcomes_of(suite: Suite, exercise: Exercise, seed: int, *, trials: int = 0, fresh: bool = False) -> Outcomes:
    """Return what is known of the mutants of an exercise; with `fresh`, nothing is.

    Witnesses are known if they were searched in as many `trials`.
    """
    file = state_folder(suite.course.root, "cache") / f"mutants-{exercise.id}.json"
    search = hashlib.sha256(engine_digest("authoring/mutation/*.py", "edits/*.py") + str(trials).encode()).hexdigest()
    return Outcomes(file, _digest(suite, exercise, seed), search, fresh=fresh)


def _digest(suite: Suite, exercise: Exercise, seed: int) -> str:
    """Return the digest of everything that decides whether a mutant is caught, beside the mutant."""
    course = suite.course
    needed = [course.solutions_dir / need.file for need in course.with_all_needs(exercise)]
    versions = versions_of(course.libraries)
    parts = [
        engine_digest(),
        repr((seed, course.sizes_of(exercise), exercise.forbidden, platform.python_version(), versions)).encode(),
        suite.sources[course.checks_file(exercise).name],
        *(read_plain(file) for file in needed),
    ]
    return digest_of_parts(parts)
