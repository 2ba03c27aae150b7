"""`course play demo`: trained models before the first exercise, and with the learner's parts in them."""

import importlib
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from autograder.authoring.leaks import Gate, secrets_of
from autograder.course import read_course
from autograder.play.stage import _activity
from tests.support import tiny
from tests.support.play_programs import COURSE, SOLUTIONS, VARIANTS, played, solved, standing_on, variant, wrong

USED = [exercise.id for exercise in COURSE.used_by(COURSE.play[0])]
ATTENTION = "ex05_attention"
MOST_BYTES = 3_000_000
TRANSLATED = "my sister bought a red shirt -> meri bahan ne ek laal kameez khareedi"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with its activities and its reference parts, and without solutions, as a kit is."""
    root = solved(tmp_path_factory.mktemp("demo"))
    (root / "solutions").unlink()
    (root / "tests" / "exercises").mkdir(parents=True)
    (root / "tests" / "exercises" / "reference_parts").symlink_to(COURSE.reference_parts_dir)
    return root


def output_of(
    root: Path, sources: dict[str, bytes], own: list[str], **request: Any
) -> subprocess.CompletedProcess[str]:
    """Run the demo on these files, of which the exercises in `own` pass."""
    for name, source in sources.items():
        (root / "exercises" / name).write_bytes(source)
    return played(root, "demo", own=own, say=["how are you"], options={}, steps=None, **request)


@pytest.fixture(scope="module")
def first(root: Path) -> subprocess.CompletedProcess[str]:
    return output_of(root, dict.fromkeys(SOLUTIONS, b"raise SystemExit('this file is not used')\n"), [])


@pytest.mark.worker
def test_it_needs_no_exercise_and_no_solution(first: subprocess.CompletedProcess[str]) -> None:
    assert (first.returncode, first.stderr) == (0, "")
    assert "trained with the reference solution, not with your code." in first.stdout
    assert "No part of them is yours yet." in first.stdout
    assert TRANSLATED in first.stdout
    assert "`khareedi` at `bought`" in first.stdout
    assert first.stdout.endswith("\naap kaise hain\n")


@pytest.mark.worker
@pytest.mark.parametrize("name", [*VARIANTS, "attention alone"])
def test_parts_that_pass_take_their_place_and_change_nothing(
    root: Path, first: subprocess.CompletedProcess[str], name: str
) -> None:
    files = variant(name) if name in VARIANTS else {f"{ATTENTION}.py": SOLUTIONS[f"{ATTENTION}.py"]}
    own = [exercise for exercise in USED if f"{exercise}.py" in files]
    done = output_of(root, files, own)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Your own code runs in them now: exercise" in done.stdout
    assert done.stdout.partition("\n\n")[2] == first.stdout.partition("\n\n")[2]


@pytest.mark.worker
def test_a_part_that_changes_a_result_is_named(root: Path) -> None:
    files = wrong("attention-not-scaled")
    own = [exercise for exercise in USED if exercise < "ex07"]
    done = output_of(root, files, own)
    assert done.returncode == 1
    assert done.stdout.startswith("05 attention: with your part, the trained model t")
    assert done.stdout.endswith("Next: course check 05\n")
    anyway = output_of(root, files, own, anyway=True)
    assert anyway.returncode == 0
    assert "Your own code runs in them now: exercises 01 to 04 and 06." in anyway.stdout
    assert TRANSLATED in anyway.stdout


@pytest.mark.worker
def test_a_part_that_raises_is_named(root: Path) -> None:
    done = output_of(
        root, {f"{ATTENTION}.py": b"def scaled_dot_product_attention(*_):\n    raise KeyError(5)\n"}, [ATTENTION]
    )
    assert done.returncode == 1
    assert done.stdout.startswith("05 attention: inside the trained model, your code raised KeyError: 5")


@pytest.fixture(scope="module")
def demo() -> Any:
    return _activity(COURSE, "demo")


def test_the_weights_are_small_and_fit_the_solutions(demo: Any) -> None:
    files = (demo.TRANSFORMER, demo.LLAMA)
    assert sum(file.stat().st_size for file in files) <= MOST_BYTES
    model_file = importlib.import_module("play.model_file")
    with standing_on(SOLUTIONS, {}) as stage:
        for file, new_model in zip(files, (demo.Translator.new_model, demo.Chatter.new_model), strict=True):
            parameters, about = model_file.from_bytes(file.read_bytes())
            holder: Any = type("Holder", (), {"stage": stage, "sizes": about.get("sizes"), **about})()
            expected = {name: parameter.shape for name, parameter in new_model(holder).named_parameters()}
            assert {name: parameter.shape for name, parameter in parameters.items()} == expected


def test_rows_in_8_bits_are_near_the_numbers(demo: Any) -> None:
    matrix = torch.linspace(-3, 5, 12).view(3, 4) * torch.tensor([[0.0], [1.0], [100.0]])
    vector = torch.linspace(-1, 1, 5)
    model_file = importlib.import_module("play.model_file")
    data = model_file.in_bytes([("matrix", matrix), ("vector", vector)], {"words": ["é"]})
    assert data == model_file.in_bytes([("matrix", matrix), ("vector", vector)], {"words": ["é"]})
    found, about = model_file.from_bytes(data)
    assert about == {"words": ["é"]}
    assert torch.equal(found["vector"], vector)
    assert float((found["matrix"] - matrix).abs().max()) <= float(matrix.abs().max()) / 127 / 2 + 1e-6
    assert torch.equal(found["matrix"][0], torch.zeros(4))


@pytest.mark.long
def test_the_leak_gate_reads_the_weights(demo: Any, tmp_path: Path) -> None:
    gate = Gate(secrets_of(tiny.course_at(tiny.ROOT)))
    data = demo.LLAMA.read_bytes()
    assert gate.leaks([("play/weights/chat.npz", data)]) == []
    with np.load(demo.LLAMA) as file:
        arrays = {name: file[name] for name in file.files}
    line = b"    count = torch.arange(1, x.size(-1) + 1, device=x.device)  # (T,)"
    np.savez(tmp_path / "leak.npz", **{**arrays, "about": np.frombuffer(line, np.uint8)})
    [leak] = gate.leaks([("leak.npz", (tmp_path / "leak.npz").read_bytes())])
    assert "ex01_running_mean" in leak.sentence


def test_milestones_are_data_of_the_course() -> None:
    demo = COURSE.play[0]
    assert (demo.id, demo.needs) == ("demo", ())
    assert [COURSE.exercise(name).number for name in demo.milestones] == ["05", "10", "14", "17", "22"]
    assert all((read_course(tiny.REPOSITORY).reference_parts_dir / f"{name}.json").is_file() for name in USED)
