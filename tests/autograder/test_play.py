"""`course play`: the exercises first, then a process of its own, its checkpoint, and a sentence for every end."""

import json
import shutil
from pathlib import Path

import pytest
import tiny

GROW = '''
"""Count up, step by step, with a number of the student's."""

import torch


def play(stage):
    sizes = {"size": int(stage.options["size"])}
    kept = stage.checkpoint.load(sizes)
    step, total = (kept["step"], kept["total"]) if kept else (0, torch.zeros(1))
    mean = stage.own("ex01_running_mean").running_mean
    steps = stage.steps or 4
    with stage.live(steps) as live:
        while step < steps:
            step += 1
            total = total + mean(torch.tensor([2.0, 4.0]))[-1]
            live.show(step, {"total": f"{float(total):g}"}, curve=float(total), rows=[("a", "b", True)])
            stage.checkpoint.save({"step": step, "total": total}, sizes)
            if step == stage.options["stop-at"]:
                stage.stopped()
    if stage.options["astray"]:
        stage.astray("ex01_running_mean", "the total is not what it should be")
    for line in stage.asked("> "):
        stage.tell(f"heard {line}")
    return {"total": float(total)}
'''
TABLE = """
[[play]]
id = "grow"
title = "add up what you have built"
needs = ["ex01_running_mean"]

[play.options]
size = [1, "how large"]
stop-at = [0, "where to stop"]
astray = [false, "whether it goes wrong"]
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


def test_an_activity_trains_says_what_came_of_it_and_goes_on_where_it_was(playing: Path) -> None:
    done = tiny.run_course(playing, "play", "grow", "--plain", "--stop-at", "2", "--say", "hello")
    assert done.returncode == 130
    assert "Step 2 of 4: total 6." in done.stdout
    assert "  a -> b" in done.stdout
    assert "Next: course play grow goes on from here." in done.stdout
    again = tiny.run_course(playing, "play", "grow", "--plain", "--say", "hello", "--say", "again")
    assert (again.returncode, again.stderr) == (0, "")
    assert "Step 2 of 4" not in again.stdout
    assert "heard hello\nheard again" in again.stdout
    assert figures(playing) == {"schema": 1, "activity": "grow", "wrong": [], "figures": {"total": 12.0}}
