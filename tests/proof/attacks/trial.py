"""One attack, tried: graded beside honest submissions and before another one, while everything it may reach is watched.

What it is worth is the points above those of the same program without the attack.
"""

import contextlib
import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from autograder.gradebook import list_submissions
from autograder.gradebook.out import Stored, write_stored
from autograder.judge import Grader
from autograder.results import Report
from autograder.runner import Run, Runner
from autograder.submission import Caps
from tests.proof.attacks.catalogue import Attack, Catalogue, Level, honest_files, write_submission
from tests.proof.attacks.reports import exceptions_of, gained, not_graded, odd_json, odd_texts, without_times
from tests.proof.attacks.traps import Traps, files_left, processes, survivors

ATTACKER = "mallory"
MOST_REPORT_BYTES = 1 << 20
"""Characters that move a cursor, turn text round or cannot be seen."""


@dataclass(frozen=True)
class Trial:
    """The outcome of an attack. `gained` is in hundredths; the other fields are observations in words."""

    attack: Attack
    gained: int
    leaks: tuple[str, ...]
    changed: tuple[str, ...]
    lost: tuple[str, ...]
    left: tuple[str, ...]
    seconds: float
    tried: bool = True
    raised: frozenset[str] = frozenset()
    flags: int = 0

    @property
    def faults(self) -> list[str]:
        """The exceptions that the attack raised and does not name: it failed for a reason of its own."""
        return sorted(self.raised - {*self.attack.raises})

    @property
    def is_stale(self) -> bool:
        """Whether the attack shows nothing, for it did not do what it is there for."""
        return not self.tried or bool(self.faults)

    @property
    def got(self) -> bool:
        """Whether the attack got anything that a level contains."""
        return bool((self.gained and not self.attack.flagged) or self.leaks or self.left)

    @property
    def harmed(self) -> bool:
        """Whether the attack harmed another submission, which no level allows."""
        return bool(self.changed or self.lost)

    def fails(self, level: Level) -> bool:
        """Whether the outcome contradicts the catalogue at that level."""
        is_unseen = self.attack.flagged and not self.flags
        return self.harmed or self.is_stale or is_unseen or (self.got and self.attack.claims(level))

    def verdict(self, level: Level) -> str:
        """Return the outcome in a word; empty if it is as promised."""
        if self.is_stale:
            return "STALE"
        if self.fails(level):
            return "BROKEN"
        return "" if self.attack.claims(level) else "open" if self.got else "contained"

    def seen(self) -> list[str]:
        """Return all observations, in words."""
        gained = [f"{self.gained / 100:g} points"] if self.gained else []
        stale = [] if self.tried else ["it did not get to try: is the attack out of date?"]
        stale += [f"it raised {name}, which its note does not name: is the attack out of date?" for name in self.faults]
        changed = [f"{file} changed" for file in self.changed]
        unseen = ["it has no flag"] if self.attack.flagged and not self.flags else []
        return [*gained, *unseen, *stale, *self.leaks, *changed, *self.lost, *self.left]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        seen = {name: list(getattr(self, name)) for name in ("leaks", "changed", "lost", "left")}
        return {
            "attack": self.attack.name,
            "tried": self.tried,
            "gained": self.gained,
            "flags": self.flags,
            "raised": sorted(self.raised),
            **seen,
            "seconds": round(self.seconds, 2),
        }


@dataclass
class Round:
    """What was graded at once: the reports by folder of submissions, or what went wrong instead.

    `printed` has the output of the programs, by folder.
    """

    reports: dict[str, list[Report]] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    printed: dict[str, str] = field(default_factory=dict)


class OutputRunner(Runner):
    """A runner that also keeps the program's output, which reports for a mark leave out."""

    printed = ""

    def run(self, *args: Any, **options: Any) -> Run:
        """Run a plan, and keep its output."""
        found = super().run(*args, **options)
        self.printed += found.log
        return found


class Trials:
    """Tries attacks one after another against one grader, which goes on from each to the next."""

    def __init__(self, catalogue: Catalogue, grader: Grader, traps: Traps, *, kept: Path, neighbours: int) -> None:
        self.catalogue = catalogue
        self.grader = grader
        self.traps = traps
        self.kept = kept
        self.course = grader.suite.course
        self.level = cast(Level, grader.isolation.level)
        self.out = traps.base / "out"
        self._number = 0
        self._running: list[OutputRunner] = []
        self._honest: dict[tuple[str, str], list[Report]] = {}
        self.neighbours = [catalogue.neighbours[number % len(catalogue.neighbours)] for number in range(neighbours)]

    def honest(self, exercise: str, wrong: str) -> list[Report]:
        """Return the reports on an honest submission, graded alone; once for each."""
        if (exercise, wrong) not in self._honest:
            folder = self._folder("honest")
            self._write_honest(folder, exercise, wrong)
            graded = self._grade({"honest": folder}, 600)
            if graded.lost:
                raise RuntimeError(f"an honest submission could not be graded: {graded.lost[0]}")
            self._honest[exercise, wrong] = graded.reports["honest"]
            shutil.rmtree(folder)
        return self._honest[exercise, wrong]

    def run(self, attack: Attack) -> Trial:
        """Try one attack."""
        alone = self.honest(attack.exercise, attack.wrong)
        canary = self.catalogue.neighbours[-1]
        before = {neighbour: without_times(self.honest(*neighbour)) for neighbour in {*self.neighbours, canary}}
        folders = {"attack": self._folder("attack")}
        honest = honest_files(self.course, self.catalogue.exercises, attack.exercise, attack.wrong)
        parts = self.catalogue.folder / "parts"
        targets = {**self.traps.targets, "cache": str(self.kept)}
        write_submission(attack, honest, folders["attack"], parts, targets, ATTACKER)
        for at, neighbour in enumerate(self.neighbours):
            folders[f"neighbour {at + 1}"] = self._folder("beside")
            self._write_honest(folders[f"neighbour {at + 1}"], *neighbour)
        there = processes()
        self.traps.touched()
        started = time.monotonic()
        beside = self._grade(folders, attack.seconds)
        seconds = time.monotonic() - started
        ended = survivors(self.traps.base, there)
        folders["canary"] = self._folder("after")
        self._write_honest(folders["canary"], *canary)
        after = self._grade({"canary": folders["canary"]}, 60)
        reports = {**beside.reports, **after.reports}
        kinds = {**{f"neighbour {at + 1}": neighbour for at, neighbour in enumerate(self.neighbours)}, "canary": canary}
        changed = [
            name for name, kind in kinds.items() if name in reports and without_times(reports[name]) != before[kind]
        ]
        own = reports.get("attack", [])
        left = [f"process {number}" for number in ended] + [f"file {file}" for file in files_left(self.traps)]
        trial = Trial(
            attack=attack,
            gained=max((gained(report, alone) for report in own), default=0),
            leaks=(*self._leaks(own, beside.printed.get("attack", "")), *self.traps.touched()),
            changed=tuple(changed),
            lost=(*beside.lost, *after.lost, *not_graded(reports)),
            left=tuple(left),
            seconds=seconds,
            tried=attack.where == "intake" or self.traps.tried in beside.printed.get("attack", ""),
            raised=exceptions_of(own, attack.exercise),
            flags=sum(len(exercise.flags) for report in own for exercise in report.exercises),
        )
        for folder in folders.values():
            shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(self.out, ignore_errors=True)
        return trial

    def _folder(self, kind: str) -> Path:
        self._number += 1
        folder = self.traps.base / "handed_in" / f"{kind}-{self._number}"
        folder.mkdir(parents=True)
        return folder

    def _write_honest(self, folder: Path, exercise: str, wrong: str) -> None:
        own = folder / "ada"
        own.mkdir()
        for file, text in honest_files(self.course, self.catalogue.exercises, exercise, wrong).items():
            (own / file).write_text(text, "utf-8", newline="")

    def _grade(self, folders: Mapping[str, Path], most_seconds: float) -> Round:
        """Grade folders of submissions in parallel; one that exceeds the time limit is lost."""
        graded = Round()
        self._running = []
        threads = {
            name: threading.Thread(target=self._grade_folder, args=(name, folder, graded), daemon=True)
            for name, folder in folders.items()
        }
        for thread in threads.values():
            thread.start()
        until = time.monotonic() + most_seconds
        for name, thread in threads.items():
            thread.join(max(0.0, until - time.monotonic()))
            if thread.is_alive():
                graded.lost.append(f"{name}: not graded after {most_seconds:.0f} s")
        if any(thread.is_alive() for thread in threads.values()):
            for runner in self._running:
                runner.cancel()
            for thread in threads.values():
                thread.join(10)
        return graded

    def _grade_folder(self, name: str, folder: Path, graded: Round) -> None:
        try:
            caps = Caps(source_kib=self.course.limits.source_kib)
            entries = list_submissions(folder, self.course.files).entries
            (self.out / folder.name / "reports").mkdir(parents=True)
            reports = []
            for entry in entries:
                runner = self._runner()
                report = self.grader.grade(entry.read(self.course.files, caps), runner=runner)
                graded.printed[name] = graded.printed.get(name, "") + runner.printed
                write_stored(self.out / folder.name / "reports" / f"{entry.student}.json", Stored(report, "", {}))
                reports.append(report)
            graded.reports[name] = reports
        except Exception as error:
            graded.lost.append(f"{name}: {type(error).__name__}: {error}")

    def _runner(self) -> OutputRunner:
        """Return a runner like that of a grader, which also keeps the output."""
        found = OutputRunner(
            self.grader.suite,
            seed=self.grader.seed,
            shared=True,
            start=self.grader.isolation.start,
        )
        self._running.append(found)
        return found

    def _leaks(self, reports: Sequence[Report], printed: str) -> list[str]:
        """Return what the program printed, and what came out by a report or anything else in the folder for reports."""
        found = {f"{secret} in its output" for secret in self.traps.found_in(printed.encode())}
        written = [file for file in self.out.rglob("*") if file.is_file() and not file.is_symlink()]
        for file in written:
            data = file.read_bytes()
            found |= {f"{secret} in a report" for secret in self.traps.found_in(data)}
            if len(data) > MOST_REPORT_BYTES:
                found.add(f"a report of {len(data):,} bytes")
            with contextlib.suppress(UnicodeDecodeError):
                found |= odd_json(data.decode("utf-8"))
        for report in reports:
            found |= odd_texts(report)
        return sorted(found)
