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
@pytest.mark.parametrize("name", [*(VARIANTS if tiny.EVERYTHING else VARIANTS[:1]), "attention alone"])
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
    own = ["ex04_masks", ATTENTION, "ex06_multi_head_attention"]
    done = output_of(root, files, own)
    assert done.returncode == 1
    assert done.stdout.startswith("05 attention: with your part, the trained model t")
    assert done.stdout.endswith("Next: course check 05\n")
    anyway = output_of(root, files, own, anyway=True)
    assert anyway.returncode == 0
    assert "Your own code runs in them now: exercises 04 and 06." in anyway.stdout
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


@pytest.mark.long
def test_the_weights_are_of_the_words_and_sizes_that_are_trained_now(demo: Any) -> None:
    """If this fails, `python -m play.demo` makes the weights anew."""
    by_id = {activity.id: activity for activity in COURSE.play}
    sizes, options = ({one.name: one.default for one in by_id[name].choices} for name in ("translate", "chat"))
    model_file, chat = (importlib.import_module(f"play.{name}") for name in ("model_file", "chat"))
    _, about = model_file.from_bytes(demo.TRANSFORMER.read_bytes())
    assert about["sizes"] == {name: value for name, value in sizes.items() if name != "asked"}
    with standing_on(SOLUTIONS, {}) as stage:
        pairs = demo.corpus(stage.seed, sizes["sentences"], sizes["asked"]).training
        for side, name in enumerate(("english", "hindi")):
            words = sorted({word for pair in pairs for word in pair[side]})
            assert about[name] == [*stage.own("ex12_batching").build_vocab([[word] for word in words])]
        vocab, merges = chat.learn_tokenizer(stage, demo.read_tales(600_000).training, options["entries"])
    _, about = model_file.from_bytes(demo.LLAMA.read_bytes())
    assert about["vocab"] == [list(vocab[id_]) for id_ in sorted(vocab)]
    assert about["merges"] == [[list(first), list(second)] for first, second in merges]
    assert about["arguments"] == chat._arguments(options, len(vocab))


@pytest.mark.slow
def test_the_code_that_writes_the_weights_finds_them_as_they_are(demo: Any, capsys: pytest.CaptureFixture[str]) -> None:
    model_file = importlib.import_module("play.model_file")
    read = [model_file.from_bytes(file.read_bytes()) for file in (demo.TRANSFORMER, demo.LLAMA)]
    with standing_on(SOLUTIONS, {}) as stage:
        stage.seed = 1
        own = (demo.Speaker(stage, ()), demo.Teller(stage, ()))
        kept = [{**about, "model": its.model.state_dict()} for its, (_, about) in zip(own, read, strict=True)]
        special = len(demo.Translator(stage, [], [], own[0].sizes).english)
        words = {name: kept[0][name][special:] for name in ("english", "hindi")}
        again = [demo._transformer(stage, {**kept[0], **words, "options": own[0].sizes}), demo._llama(stage, kept[1])]
    for (parameters, about), data in zip(read, again, strict=True):
        found, found_about = model_file.from_bytes(data)
        assert {**found_about, "bits": None} == {**about, "bits": None}
        assert all(torch.allclose(found[name], parameters[name]) for name in parameters)
    figures = capsys.readouterr().out
    assert "492 and 487 of 500 sentences are right\n0.265 bits per character" in figures
    page = (tiny.REPOSITORY / "docs" / "play.md").read_text("utf-8")
    assert "| `translate --steps 3200` | 0.44 MB | 492 | 487 |" in page
    assert "| `chat` | 0.85 MB | | | 0.265 |" in page


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
