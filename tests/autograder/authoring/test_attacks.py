"""The attacks: their catalogue is complete, and every gain would be noticed.

The whole catalogue is run by `make attack`. Here one attack of each kind succeeds on purpose, against the tiny course
in plain processes, to show that the watch over it sees it.
"""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.course import read_course
from tests.proof.attacks.catalogue import (
    Attack,
    Catalogue,
    CatalogueError,
    Level,
    honest_files,
    read_catalogue,
)
from tests.proof.attacks.program import main, prepared, show
from tests.proof.attacks.reports import STEERS
from tests.proof.attacks.traps import processes
from tests.proof.attacks.trial import Trial, Trials
from tests.support import tiny

FOLDER = tiny.REPOSITORY / "tests" / "attacks"
CLASSES = [f"A{number}" for number in range(1, 97)]
WHOLE = read_catalogue(FOLDER)
COURSE = read_course(tiny.REPOSITORY)
WRONG = "mean-not-divided"
LITTLE = Catalogue(FOLDER, (), (tiny.FIRST,), ((tiny.FIRST, "mean-of-everything"),), {})


def test_every_class_is_an_attack_or_held_by_a_test_that_is_there() -> None:
    held = {name for attack in WHOLE.attacks for name in attack.classes}
    assert held | set(WHOLE.elsewhere) == set(CLASSES)
    assert not held & set(WHOLE.elsewhere)
    for names in WHOLE.elsewhere.values():
        assert names["title"]
        assert names["why"]
        file, name = names["test"].split("::")
        assert f"def {name}(" in (tiny.REPOSITORY / file).read_text("utf-8")


@pytest.mark.long
@pytest.mark.parametrize("attack", WHOLE.attacks, ids=lambda attack: attack.name)
def test_an_attack_is_a_program_in_an_honest_one(attack: Attack) -> None:
    ast.parse(attack.text)
    assert attack.name.split("_")[0].lstrip("a").lstrip("0") == attack.classes[0].lstrip("A")
    parts = [(FOLDER / "parts" / f"{part}.py").read_text("utf-8") for part in attack.parts]
    for part in parts:
        ast.parse(part)
    handed_in = "\n".join([*parts, attack.text])
    assert attack.where == "intake" or "tried()" in handed_in, "it has to say that it got to try"
    assert len(attack.title) <= 75
    honest = honest_files(COURSE, WHOLE.exercises, attack.exercise, attack.wrong)
    assert honest[f"{attack.exercise}.py"]


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trials]:
    course = read_course(tiny.copied(tmp_path_factory.mktemp("attacked") / "course"))
    with prepared(course, LITTLE, "L0", neighbours=0) as found:
        yield found


def attack(text: str, contained: Level = "L0") -> Attack:
    return Attack("a00_it", ("A0",), "a title", "a try", text, "after", tiny.FIRST, WRONG, contained=contained)


def nothing(trial: Trial) -> bool:
    return not (trial.got or trial.harmed)


@pytest.mark.slow
@pytest.mark.worker
def test_an_attack_that_gets_nothing_passes_at_every_level(trials: Trials, capsys: pytest.CaptureFixture[str]) -> None:
    trial = trials.run(attack("tried()\nimport os\nos._exit(0)"))
    assert nothing(trial)
    assert trial.tried
    assert not trial.fails("L0")
    show([trial], "L0", 0, plain=True)
    assert "1 attacks at L0, 1 of them contained there by promise: 0 break a promise" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.worker
def test_an_attack_that_does_not_get_to_try_fails(trials: Trials) -> None:
    trial = trials.run(attack("raise LookupError\ntried()"))
    assert nothing(trial)
    assert trial.fails("L0")


@pytest.mark.slow
@pytest.mark.worker
@pytest.mark.parametrize("mistake", ["import torch.nothing", "torch.zeros(2).no_such_method()"])
def test_an_attack_that_fails_for_a_reason_of_its_own_fails(trials: Trials, mistake: str) -> None:
    text = f"def running_mean(x):\n    tried()\n    {mistake}"
    trial = trials.run(attack(text))
    assert trial.tried
    assert nothing(trial)
    assert trial.fails("L0")
    assert trial.verdict("L0") == "STALE"
    [sentence] = [line for line in trial.seen() if line.startswith("it raised ")]
    assert "which its note does not name" in sentence
    [named] = trial.raised
    assert not replace(trial, attack=replace(trial.attack, raises=(named,))).fails("L0")


@pytest.mark.slow
@pytest.mark.worker
def test_an_attack_on_the_ban_works_where_nothing_is_forbidden() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.proof.attacks.alone"],
        cwd=tiny.REPOSITORY,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.slow
@pytest.mark.worker
def test_points_are_counted_above_the_honest_program(trials: Trials) -> None:
    right = tiny.MEAN[tiny.MEAN.index("def running_mean") :]
    trial = trials.run(attack(f"tried()\n{right}"))
    assert trial.gained == tiny.FULL[tiny.FIRST] - trials.honest(tiny.FIRST, WRONG)[0].score > 0
    assert trial.fails("L0")
    assert not replace(trial, attack=replace(trial.attack, contained="never")).fails("L3")


LEAKS = """
import socket
tried()
got("something")
for name in ("solution", "report"):
    print(open(TARGETS[name]).read(), flush=True)
socket.create_connection(TARGETS["tcp"]).close()
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"hello", TARGETS["udp"])
socket.socket(socket.AF_UNIX).connect(TARGETS["abstract"])
with socket.socket(socket.AF_UNIX) as call:
    call.connect(TARGETS["unix"])
    call.send(open(TARGETS["solution"], "rb").read())
raise ValueError(open(TARGETS["submission"]).read())
"""

LEAVES = """
import os, time
tried()
open(f"/tmp/{TARGETS['mark']}", "w").close()
if os.fork() == 0:
    os.setsid()
    time.sleep(30)
    os._exit(0)
"""


@pytest.mark.slow
@pytest.mark.worker
def test_every_leak_is_noticed(trials: Trials) -> None:
    trial = trials.run(attack(LEAKS))
    secrets = ("another report", "another submission", "proof", "the solutions")
    assert set(trial.leaks) == {
        *(f"{secret} in its output" for secret in secrets if secret != "another submission"),
        "another submission in a report",
        "tcp got a call",
        "udp got a call",
        "abstract got a call",
        "unix got ['the solutions']",
    }
    assert trial.fails("L0")


def runs(process: int) -> bool:
    """Say whether a process runs: one that was killed stays in the table until somebody asks how it ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.worker
def test_what_is_left_behind_is_noticed_and_taken_away(trials: Trials) -> None:
    trial = trials.run(attack(LEAVES))
    ended = {int(line.removeprefix("process ")) for line in trial.left if line.startswith("process ")}
    assert ended
    assert not {process for process in ended & processes() if runs(process)}
    assert f"file /tmp/{trials.traps.mark}" in trial.left
    assert not Path("/tmp", trials.traps.mark).exists()


@pytest.mark.slow
@pytest.mark.worker
def test_a_neighbour_that_changes_is_noticed(trials: Trials, monkeypatch: pytest.MonkeyPatch) -> None:
    assert trials.honest(tiny.FIRST, "mean-of-everything")
    other = trials.honest(tiny.FIRST, WRONG)
    monkeypatch.setitem(trials._honest, (tiny.FIRST, "mean-of-everything"), other)
    monkeypatch.setattr(trials, "neighbours", [(tiny.FIRST, "mean-of-everything")])
    trial = trials.run(attack("tried()"))
    assert trial.changed == ("neighbour 1", "canary")
    assert trial.fails("L0")


@pytest.mark.slow
@pytest.mark.worker
def test_a_grader_that_is_not_done_in_time_or_fails_is_lost(trials: Trials, monkeypatch: pytest.MonkeyPatch) -> None:
    trials.honest(tiny.FIRST, WRONG)
    slow = Attack("a00", ("A0",), "", "", "tried()", "after", tiny.FIRST, WRONG, contained="never", seconds=0.0)
    assert "attack: not graded after 0 s" in trials.run(slow).lost
    monkeypatch.setattr(trials.grader, "grade", None)
    trial = trials.run(attack("tried()", contained="never"))
    assert any("TypeError" in line for line in trial.lost)
    assert trial.fails("L0")


def test_a_character_that_steers_a_terminal_is_known() -> None:
    assert all(STEERS.search(character) for character in ("\x1b[2J", "\r", "\x07", "\x9b", "\u202e", "\u200b"))
    assert not STEERS.search("a line\nand × another")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("print(1)\n", "does not begin with a note"),
        ("# /// attack\n# class = A1\n# ///\n", "is no TOML"),
        ('# /// attack\n# class = "A1"\n# ///\n', "lacks hope, title"),
        ('# /// attack\n# class = "A1"\n# title = "t"\n# hope = "t"\n# colour = 1\n# ///\n', "colour means nothing"),
        ('# /// attack\n# class = "A1"\n# title = "t"\n# hope = "t"\n# contained = "L7"\n# ///\n', "the levels are"),
        ('# /// attack\n# class = "A1"\n# title = "t"\n# hope = "t"\n# contained = "L2"\n# ///\n', "say why"),
    ],
)
def test_a_note_that_cannot_be_read_is_reported_in_a_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    catalogue = 'exercises = []\nneighbours = []\n[honest]\nexercise = "e"\nwrong = "w"\n'
    (tmp_path / "catalogue.toml").write_text(catalogue)
    (tmp_path / "a01_it.py").write_text(text)
    with pytest.raises(CatalogueError, match=sentence):
        read_catalogue(tmp_path)


def test_a_name_that_nobody_has_is_a_matter_of_usage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tiny.REPOSITORY)
    with pytest.raises(SystemExit) as ended:
        main(["--only", "z99"])
    assert ended.value.code == 2
    assert "no attack begins with z99" in capsys.readouterr().err
