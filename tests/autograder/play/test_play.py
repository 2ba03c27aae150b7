"""`course play`: the exercises first, then a process of its own, its checkpoint, and a sentence for every end."""

import importlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from rich.console import Console
from torch import nn

from autograder.course import CourseError, numbers_of, read_course
from autograder.play import CheckpointError
from autograder.play import command_play as launch
from autograder.play import stage as live
from autograder.play.command_play import parse_settings
from autograder.play.stage import Checkpoint, LiveDisplay, Stopped, _activity, _made_by
from autograder.progress import Keyboard
from autograder.submission import read_own
from tests.support import tiny

GROW = '''
"""Count up, step by step, with a number of the student's."""

import torch


def play(stage):
    sizes = {"size": int(stage.options["size"])}
    kept = stage.checkpoint.load(sizes)
    step, total = (kept["step"], kept["total"]) if kept else (0, torch.zeros(1))
    mean = stage.own("ex01_running_mean").running_mean
    steps = stage.steps or 4
    while stage.options["wait"] and not stage.stop.wait(1):
        stage.print("waiting")
    with stage.live(steps) as live:
        while step < steps:
            step += 1
            total = total + mean(torch.tensor([2.0, 4.0]))[-1]
            live.show(step, {"total": f"{float(total):g}"}, curve=float(total), rows=[("a", "b", True)])
            stage.checkpoint.save({"step": step, "total": total}, sizes)
            if step == stage.options["stop-at"] or stage.stop.is_set():
                stage.stopped()
    if stage.options["faulty"]:
        stage.report_fault("ex01_running_mean", "the total is not what it should be")
    for line in stage.inputs("> "):
        stage.print(f"heard {line}")
    return {"total": float(total)}
'''
TABLE = """
[[play]]
id = "grow"
title = "add up what you have built"
needs = ["ex01_running_mean"]

[play.options]
size = [1, "how large"]
share = ["all", "how much, in %"]
careful = [true, "whether it is careful"]
stop-at = [0, "where to stop"]
wait = [false, "whether to wait for Ctrl-C"]
faulty = [false, "whether it reports a fault"]
"""


@pytest.fixture
def playing(course: Path) -> Path:
    """A copy of the tiny course that has something to play, and the first exercise solved."""
    with (course / "course.toml").open("a", encoding="utf-8") as stream:
        stream.write(TABLE)
    (course / "play").mkdir()
    (course / "play" / "__init__.py").write_text("", "utf-8")
    (course / "play" / "grow.py").write_text(GROW, "utf-8")
    shutil.copy(course / "solutions" / tiny.FILES[0], course / "exercises" / tiny.FILES[0])
    return course


def figures(course: Path, *arguments: str) -> dict[str, object]:
    done = tiny.run_course(course, "play", "grow", *arguments, "--json", "-")
    assert (done.returncode, done.stderr) == (0, "")
    return dict(json.loads(done.stdout))


@pytest.mark.worker
def test_a_pass_says_what_can_be_played_now(playing: Path) -> None:
    needed = f'needs = ["{tiny.FIRST}", "{tiny.SECOND}"]\n\n[play'
    tiny.replaced(playing / "course.toml", 'needs = ["ex01_running_mean"]\n\n[play', needed)
    assert "course play" not in tiny.run_course(playing, "check", "1", "--plain").stdout
    (playing / "exercises" / tiny.FILES[1]).write_text(tiny.POWER, "utf-8")
    done = tiny.run_course(playing, "check", "2", "--plain")
    assert "Next: course play grow" in done.stdout


@pytest.mark.worker
def test_a_milestone_offers_its_activity_in_its_own_words(playing: Path) -> None:
    with (playing / "course.toml").open("a", encoding="utf-8") as stream:
        stream.write(f'\n[play.milestones]\n{tiny.FIRST} = "your mean, in a program that counts"\n')
    assert "Next: course play grow: add up what you have built." in tiny.run_course(playing, "--plain").stdout
    done = tiny.run_course(playing, "check", "1", "--plain")
    assert "Next: course play grow: your mean, in a program that counts." in done.stdout
    assert "course play" not in tiny.run_course(playing, "--plain").stdout


@pytest.mark.worker
def test_it_ends_quietly_if_nobody_reads_its_output(playing: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "autograder", "play", "grow", "--plain"]
    streams = {"stdout": writer, "stderr": subprocess.PIPE}
    done = subprocess.run(command, cwd=playing, env=tiny.environment({}), **streams, check=False)
    os.close(writer)
    assert done.stderr == b""


@pytest.mark.worker
def test_an_activity_trains_reports_and_resumes(playing: Path) -> None:
    done = tiny.run_course(playing, "play", "grow", "--plain", "--stop-at", "2", "--say", "hello")
    assert done.returncode == 130
    assert "Step 2 of 4: total 6." in done.stdout
    assert "  a -> b" in done.stdout
    assert "Next: the same command goes on from here." in done.stdout
    again = tiny.run_course(playing, "play", "grow", "--plain", typed="hello\nagain\n\nmore\n")
    assert (again.returncode, again.stderr) == (0, "")
    assert "Step 2 of 4" not in again.stdout
    assert again.stdout.endswith("heard hello\nheard again\n")
    assert figures(playing) == {"schema": 1, "activity": "grow", "wrong": [], "figures": {"total": 12.0}}


@pytest.mark.worker
def test_an_exercise_may_import_another_by_the_name_of_the_folder(playing: Path) -> None:
    power = tiny.POWER.replace(f"from {tiny.FIRST} import", f"from exercises.{tiny.FIRST} import")
    (playing / "exercises" / tiny.FILES[1]).write_text(power, "utf-8")
    tiny.replaced(
        playing / "course.toml", 'needs = ["ex01_running_mean"]\n\n[play', 'needs = ["ex02_matrix_power"]\n\n[play'
    )
    tiny.replaced(playing / "play" / "grow.py", 'stage.own("ex01_running_mean")', 'stage.own("ex02_matrix_power")')
    assert figures(playing)["figures"] == {"total": 12.0}


@pytest.mark.slow
@pytest.mark.worker
def test_an_exercise_that_is_not_right_is_named_unless_it_is_to_be_played_anyway(playing: Path) -> None:
    (playing / "exercises" / tiny.FILES[0]).write_text(tiny.mean_with("return x.cumsum(dim=-1)"), "utf-8")
    done = tiny.run_course(playing, "play", "grow", "--plain")
    assert done.returncode == 1
    assert done.stdout.startswith("`course play grow` needs 01 running mean: ")
    assert "Next: course check 01" in done.stdout
    assert "Step" not in done.stdout
    assert "hint" in tiny.run_course(playing, "hint", "1", "--json", "-").stdout
    data = json.loads(tiny.run_course(playing, "play", "grow", "--anyway", "--faulty", "--json", "-").stdout)
    assert [exercise for exercise, _ in data["wrong"]] == [tiny.FIRST, tiny.FIRST]
    assert data["figures"]["total"] == 24.0


@pytest.mark.worker
def test_an_exercise_that_is_not_written_is_named_with_the_command_that_leads_to_it(playing: Path) -> None:
    shutil.copy(tiny.ROOT / "exercises" / tiny.FILES[0], playing / "exercises" / tiny.FILES[0])
    done = tiny.run_course(playing, "play", "grow", "--plain")
    assert done.returncode == 1
    assert done.stdout.startswith("`course play grow` needs 01 running mean: You have not written this part yet.")
    assert "Next: course next 01: move on to this exercise." in done.stdout


def test_the_help_of_an_activity_names_the_exercises_that_it_needs() -> None:
    course = read_course(Path(__file__).parents[3])
    chat = launch.find_activity(course, "chat")
    assert numbers_of(course.used_by(chat)) == "exercises 04, 05, 12 to 23 and 26"
    assert numbers_of(course.exercises[:1]) == "exercise 01"
    assert numbers_of(course.exercises[:2]) == "exercises 01 and 02"
    assert numbers_of(course.exercises[:3]) == "exercises 01 to 03"


@pytest.mark.worker
def test_what_an_activity_sees_to_be_wrong_names_the_exercise_too(playing: Path) -> None:
    done = tiny.run_course(playing, "play", "grow", "--plain", "--faulty")
    assert done.returncode == 1
    assert done.stdout.endswith("01 running mean: the total is not what it should be\nNext: course check 01\n")


@pytest.mark.worker
def test_ctrl_c_keeps_what_was_learned(playing: Path) -> None:
    command = [sys.executable, "-m", "autograder", "play", "grow", "--plain", "--wait"]
    env = tiny.environment({"PYTHONUNBUFFERED": "1"})
    process = subprocess.Popen(
        command, cwd=playing, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    os.killpg(process.pid, signal.SIGINT)
    said, errors = process.communicate(timeout=60)
    assert (process.returncode, "press Ctrl-C again to stop at once" in errors) == (130, True)
    assert "Stopped. The training so far is saved. Next: the same command goes on from here." in said
    assert (playing / ".course" / "play" / "grow.pt").is_file()


def test_what_is_no_part_of_an_activity_does_not_change_what_it_was_made_by(playing: Path) -> None:
    course = read_course(playing)
    submission = read_own(course)

    def made_by() -> dict[str, str]:
        return _made_by(course, course.play[0], submission, 1)

    before = made_by()
    assert {"play/grow.py", "--seed"} < set(before)
    for stray in (".DS_Store", "grow.py~", ".ipynb_checkpoints/grow.py", "notes.md"):
        file = playing / "play" / stray
        file.parent.mkdir(exist_ok=True)
        file.write_text("stray", "utf-8")
    assert made_by() == before
    (playing / "play" / "words.toml").write_text("a = 1", "utf-8")
    assert made_by() != before


@pytest.mark.slow
@pytest.mark.worker
def test_a_missing_part_is_reported_with_anyway(playing: Path) -> None:
    (playing / "exercises" / tiny.FILES[0]).write_text("def other(x):\n    return x\n", "utf-8")
    done = tiny.run_course(playing, "play", "grow", "--plain", "--anyway")
    assert done.returncode == 1
    assert re.sub(r"Exercise 01: .* known mistakes.*\n", "", done.stderr) == ""  # on a busy machine, it says so
    assert f"the activity cannot go on: AttributeError: module '{tiny.FIRST}' has no attribute" in done.stdout
    assert done.stdout.endswith("Next: course check 01\n")
    (playing / "exercises" / tiny.FILES[0]).unlink()
    done = tiny.run_course(playing, "play", "grow", "--plain", "--anyway")
    assert (done.returncode, done.stderr) == (1, "")
    assert f"01 running mean: {tiny.FIRST}.py does not exist, and this activity needs it" in done.stdout


@pytest.mark.worker
def test_ctrl_c_during_the_start_ends_it_silently(
    tmp_path: Path, playing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch.py").write_text("import time\nprint('importing', flush=True)\ntime.sleep(60)\n", "utf-8")
    process = subprocess.Popen(
        [sys.executable, "-P", str(launch.PROGRAM), "{}"],
        env=tiny.environment({"PYTHONPATH": str(tmp_path)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "importing\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == -signal.SIGINT
    monkeypatch.setattr(launch, "_run", lambda _: process.returncode)
    course = read_course(playing)
    settings = parse_settings(course.play[0], Namespace(plain=True, no_color=True, others=[]))
    assert launch.launch(course, course.play[0], settings, []) == (130, "")


@pytest.mark.worker
def test_ctrl_c_ends_an_activity_that_waits_for_a_line(playing: Path) -> None:
    command = [sys.executable, "-m", "autograder", "play", "grow", "--plain", "--steps", "1"]
    env = tiny.environment({"PYTHONUNBUFFERED": "1"})
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command, cwd=playing, env=env, stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("hello\n")
    process.stdin.flush()
    while process.stdout.readline() != "heard hello\n":
        assert process.poll() is None
    time.sleep(0.2)  # until it waits for the next line
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 0


@pytest.mark.worker
def test_an_unknown_word_is_reported(playing: Path) -> None:
    for arguments, said in (
        (("gro",), "There is no activity `gro`. Did you mean `course play grow`?"),
        (("--size", "2"), "There is no activity `2`. `course play` lists all activities."),
        (("grow", "--sise", "2"), "There is no option `--sise`. Did you mean `--size`? `course play grow --help`"),
        (("grow", "--size", "x"), "invalid int value: 'x'"),
        (("grow", "--steps", "0"), "'0' is not a whole number above 0"),
        (("grow", "--device", "tpu"), "There is no device `tpu`. "),
        (("grow", "--seed", "1" * 19), "is not a whole number of at most 18 digits"),
        (("grow", "--json", "nowhere/x.json"), "--json nowhere/x.json: there is no folder nowhere; make it first"),
        (("grow", "--json", "play"), "--json play is a folder, expected a file"),
    ):
        done = tiny.run_course(playing, "play", *arguments)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    shown = tiny.run_course(playing, "play", "grow", "--help").stdout
    for said in ("how large (default: 1)", "how much, in % (default: all)", "--careful, --no-careful"):
        assert said in shown
    assert "add up what you have built" in tiny.run_course(playing, "play").stdout


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('id = "grow"', 'id = "Grow it"', "expected a name in lower case"),
        ("ex01_running_mean", "ex01_runing_mean", "which is not an exercise; did you mean ex01_running_mean?"),
        ('[1, "how large"]', "1", 'expected a default and a help text, like [0.8, "how daring"]'),
        ("size = ", "seed = ", "seed is an option of every activity"),
        ("title = ", "titel = ", "titel is not a known key; did you mean title?"),
        ("[play.options]", "[play.milestones]", "which is not an exercise"),
    ],
)
def test_a_mistake_in_the_table_is_reported_with_its_line(playing: Path, old: str, new: str, said: str) -> None:
    text = (playing / "course.toml").read_text("utf-8")
    before, _, after = text.rpartition("[[play]]")
    (playing / "course.toml").write_text(f"{before}[[play]]{after.replace(old, new, 1)}", "utf-8")
    with pytest.raises(CourseError, match=r"course.toml:\d+: play") as raised:
        read_course(playing)
    assert said in str(raised.value)


def test_a_checkpoint_is_whole_or_refused(tmp_path: Path) -> None:
    kept = Checkpoint(tmp_path / "a.pt", {"ex01.py": "1"})
    assert kept.load({"size": 1}) is None
    kept.save({"step": 2, "weights": torch.ones(2)}, {"size": 1})
    assert [file.name for file in tmp_path.iterdir()] == ["a.pt"]
    assert (kept.load({"size": 1}) or {})["step"] == 2
    with pytest.raises(CheckpointError, match=r"made by other code: ex01.py changed since; say --fresh"):
        Checkpoint(kept.file, {"ex01.py": "2"}).load()
    with pytest.raises(CheckpointError, match=r"made with --size 1, this is --size 2; say --size 1 to use"):
        kept.load({"size": 2})
    seeded = Checkpoint(tmp_path / "b.pt", {"ex01.py": "1", "--seed": "2"})
    seeded.save({}, {"text": "a.txt (0123)"})
    with pytest.raises(CheckpointError, match=r"made with --seed 2, this is --seed 1; say --seed 2 to use"):
        Checkpoint(seeded.file, {"ex01.py": "1", "--seed": "1"}).load()
    with pytest.raises(CheckpointError, match=r"this is --text b.txt \(4567\); say --fresh to start over"):
        seeded.load({"text": "b.txt (4567)"})
    kept.file.write_bytes(kept.file.read_bytes()[:100])
    with pytest.raises(CheckpointError, match=r"a.pt cannot be read .*say --fresh to start over"):
        kept.load()


class Endless(threading.Event):
    """Stops after so many steps."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.left = steps

    def is_set(self) -> bool:
        self.left -= 1
        return self.left == 0


def learned(file: Path, stop_after: int, q_after: int = 0) -> dict[str, torch.Tensor]:
    """Train a small model with dropout for 6 steps, and return its weights; a stop or `q` comes after some of them."""
    learning = importlib.import_module("play.learning")
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.Linear(3, 1))
    optimizer = torch.optim.Adam(model.parameters())
    checkpoint = Checkpoint(file, {})

    def stopped() -> None:
        raise Stopped

    def update(step: int) -> tuple[float, int]:
        loss = model(torch.full((2, 3), float(step))).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return float(loss.detach()), 2

    show: Any = SimpleNamespace(enough=False)
    show.show = lambda step, *_, **__: setattr(show, "enough", step == q_after)
    live: Any = type("Live", (), {"__enter__": lambda _: show, "__exit__": lambda *_: None})
    stage = SimpleNamespace(
        device="cpu",
        checkpoint=checkpoint,
        stop=Endless(stop_after),
        faults=[("ex05_attention", "not scaled")] if stop_after else [],
        stopped=stopped,
        print=print,
        live=lambda *_, **__: live(),
    )
    same: dict[str, Any] = {"sizes": {}, "more": {}, "samples": list, "unit": "words", "steps": 6, "update": update}
    kept = learning.load_checkpoint(stage, {})
    learning.Training(stage, model, optimizer, rate=lambda step: 0.1 / step, **same).run(kept)
    assert stage.faults == ([("ex05_attention", "not scaled")] if stop_after or (kept and kept["wrong"]) else [])
    return model.state_dict()


@pytest.mark.long
def test_a_training_that_was_stopped_ends_as_one_that_was_not(tmp_path: Path) -> None:
    _activity(read_course(tiny.REPOSITORY), "learning")
    whole = learned(tmp_path / "whole.pt", 0)
    with pytest.raises(Stopped):
        learned(tmp_path / "parts.pt", 3)
    parts = learned(tmp_path / "parts.pt", 0)
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def test_the_key_q_ends_a_training_early_and_it_can_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _activity(read_course(tiny.REPOSITORY), "learning")
    whole = learned(tmp_path / "whole.pt", 0)
    early = learned(tmp_path / "parts.pt", 0, q_after=3)
    assert not all(torch.equal(whole[name], early[name]) for name in whole)
    assert "Stopped after step 3 of 6. The same command continues the training." in capsys.readouterr().out
    parts = learned(tmp_path / "parts.pt", 0)
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


class Pressed(Keyboard):
    """A keyboard on which `q` is pressed at the third look."""

    looks = 0

    def __bool__(self) -> bool:
        return True

    def wait(self, seconds: float) -> str:
        self.looks += 1
        return "xq" if self.looks == 3 else ""


def trained(monkeypatch: pytest.MonkeyPatch, steps: int, seconds: float, **options: bool) -> tuple[str, list[bool]]:
    """Return what a training of 12 steps of so many seconds prints into a log, and when it has had enough."""
    clock = iter(range(1_000_000))
    monkeypatch.setattr(live, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(live, "keyboard", lambda **_: Pressed())
    console, now = Console(file=io.StringIO(), width=80, color_system=None), [0.0]
    enough = []
    with LiveDisplay(console, steps, plain=True, spell=str, **options) as display:
        for step in range(1, 13):
            now[0] = next(clock) * seconds
            display.show(step, {"loss": "1"})
            enough.append(display.enough)
    return console.file.getvalue(), enough  # type: ignore[attr-defined]


def test_the_first_steps_say_how_long_a_training_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    said, enough = trained(monkeypatch, 300, 1.0)
    assert said.splitlines()[0] == "The training takes about 5 min on this machine."
    assert said.count("about") == 1
    assert not any(enough)
    assert "about" not in trained(monkeypatch, 12, 1.0)[0], "a short training needs no estimate"
    assert "about" not in trained(monkeypatch, 300, 0.1)[0], "one second is too short for one"


def test_the_key_q_is_offered_where_it_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    said, enough = trained(monkeypatch, 300, 1.0, stoppable=True)
    assert "on this machine. Press q to stop earlier, and use what the model has learned." in said
    assert enough == [False, False, *[True] * 10]


@pytest.mark.worker
def test_threads_of_a_training_do_not_spin() -> None:
    program = "import os, sys; sys.exit(7 if os.environ['OMP_WAIT_POLICY'] == 'PASSIVE' else 0)"
    assert launch._run([sys.executable, "-c", program]) == 7


def test_on_a_terminal_the_figures_are_drawn_in_place() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)
    with LiveDisplay(console, 400, plain=False, spell=str) as live:
        for step in range(1, 401):
            rows = [("how are you", "aap kaise hain", True), ("hello", "ve", False)] if step == 200 else None
            live.show(step, {"loss": f"{400 - step}"}, curve=400 - step, rows=rows)
    drawn = console.file.getvalue()  # type: ignore[attr-defined]
    last = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn).replace("\r", "\n")
    last = last[last.rindex("step 400 of 400") :]
    assert "\x1b[1A" in drawn  # it went up, to draw in the same place
    assert "loss 0\n" in re.sub(r" +\n", "\n", last)
    assert "█▇" in last
    assert "how are you  aap kaise hain  ✓" in last
    assert "hello        ve              ✗" in last
    assert drawn.count("step") < 20
