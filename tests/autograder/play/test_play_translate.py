"""`course play translate` on a small scale: its output, its checkpoint, and which exercise it reports."""

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.course import UsageError
from autograder.play.stage import FaultyExercise, _activity
from tests.support.play_programs import COURSE, SOLUTIONS, VARIANTS, played, solved, standing_on, variant, wrong

SMALL = {"sentences": 400, "asked": 20, "batch": 16, "width": 32, "heads": 2, "blocks": 1}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose exercises are all solved, with what there is to play."""
    return solved(tmp_path_factory.mktemp("play"))


def translated(root: Path, **changes: Any) -> subprocess.CompletedProcess[str]:
    """Train on a small scale."""
    return played(root, "translate", **{"steps": 6, "say": ["hello world"], "options": SMALL, **changes})


@pytest.fixture(scope="module")
def first(root: Path) -> subprocess.CompletedProcess[str]:
    """A first training, of a few steps."""
    return translated(root)


@pytest.mark.worker
def test_it_looks_at_the_model_trains_it_and_says_how_good_it_is(first: subprocess.CompletedProcess[str]) -> None:
    assert (first.returncode, first.stderr) == (0, "")
    for said in (
        "400 pairs of sentences",
        "The loss before training is",
        "No position of the target sees a later word.",
        "The model memorises 16 sentences in ",
        "Step 6 of 6: loss",
        "words a second",
        "  hello world ->",
        "of 20 new sentences exactly",
        "of 20 new combinations of words exactly",
        "Few translations are right.",
    ):
        assert said in first.stdout


@pytest.mark.worker
def test_what_was_trained_is_used_again_and_figures_go_to_a_file(
    root: Path, first: subprocess.CompletedProcess[str]
) -> None:
    assert first.returncode == 0
    say = ["Hello, World!", "how r you", "xyzzy", "?", "the " * 20]
    again = translated(root, say=say, json=str(root / "figures.json"), wrong=[["ex05_attention", "not scaled"]])
    assert (again.returncode, again.stderr) == (0, "")
    assert "This model is trained already (6 steps); --fresh starts over." in again.stdout
    assert "Trained although 05 attention fails: not scaled" in again.stdout
    assert "The model does not know the word r." in again.stdout
    assert "There is no English word in '?'." in again.stdout
    assert "The sentence has 20 words; the model knows sentences of at most 12 words." in again.stdout
    data = json.loads((root / "figures.json").read_text("utf-8"))
    assert set(data["figures"]) == {"steps", "asked", "unseen", "combined", "seconds"}
    assert data["wrong"] == [["ex05_attention", "not scaled"]]


@pytest.mark.worker
def test_another_seed_is_refused(root: Path, first: subprocess.CompletedProcess[str]) -> None:
    assert first.returncode == 0
    seeded = translated(root, seed=2)
    assert seeded.returncode == 2
    assert "was made with --seed 1, this is --seed 2; say --seed 1 to use it, or --fresh to start over" in seeded.stderr


def test_a_line_is_read_as_it_was_learned(translate: Any) -> None:
    for line, read in (
        ("He's tall.", "he is tall"),
        ("the fruit's price, that's it", "the fruit 's price that is it"),
        ("Let’s go; it's late", "let us go it is late"),
        ("she can't, won't and doesn't", "she can not will not and does not"),
        ("the boy's book isn't the rabbit's", "the boy 's book is not the rabbit 's"),
    ):
        assert " ".join(translate.parse_words(line)) == read


@pytest.fixture(scope="module")
def translate() -> Any:
    return _activity(COURSE, "translate")


def looked_at(translate: Any, sources: dict[str, bytes]) -> Any:
    """Look at an untrained model made of these sources, and return the lines that were printed."""
    from play.language.corpus import corpus
    from play.sanity import check_model

    with standing_on(sources, SMALL) as stage:
        words = corpus(1, 40, 1)
        english, hindi = (sorted({word for pair in words.training for word in pair[side]}) for side in (0, 1))
        translator = translate.Translator(stage, english, hindi, {"width": 32, "heads": 2, "blocks": 1})
        src, tgt = translator.padded(translator.encoded(words.training[:16]))
        check_model(stage, translator.model, src, tgt, len(translator.hindi))
        return stage


@pytest.mark.long
def test_a_correct_model_passes_every_check(translate: Any) -> None:
    assert len(looked_at(translate, SOLUTIONS)) == 4


@pytest.mark.long
@pytest.mark.parametrize("name", VARIANTS)
def test_an_accepted_variant_passes_every_check(translate: Any, name: str) -> None:
    assert len(looked_at(translate, variant(name))) == 4


def test_so_few_sentences_that_they_are_not_worth_learning_are_refused(translate: Any) -> None:
    translate.check_sizes({**SMALL, **translate.LEAST}, translate.LEAST)
    stage = SimpleNamespace(steps=1, options={**SMALL, "sentences": 99})
    with pytest.raises(UsageError, match="--sentences is 99, expected 100 or more"):
        translate.play(stage)


def test_a_width_that_the_heads_do_not_divide_is_refused(translate: Any) -> None:
    stage = SimpleNamespace(steps=1, options={**SMALL, "heads": 3})
    with pytest.raises(UsageError, match=r"^--width is 32, expected a multiple of --heads 3$"):
        translate.play(stage)


def test_the_examined_model_has_the_same_sizes_for_all_options(translate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    models: list[Any] = []

    def check_model(_stage: Any, model: Any, *_: Any) -> None:
        models.append(model)
        raise FaultyExercise("ex10_transformer", "")

    monkeypatch.setattr(translate, "check_model", check_model)
    for other in ({"width": 16, "heads": 1}, {"width": 256, "blocks": 4}):
        with standing_on(SOLUTIONS, {**SMALL, **other}) as stage, pytest.raises(FaultyExercise):
            translate._train(stage, 1, {**SMALL, **other}, None)
    one, two = ([tuple(parameter.shape) for parameter in model.parameters()] for model in models)
    assert one == two


SENT_BACK = {
    "masks-target-future-forgotten": "ex04_masks",
    "masks-padding-inverted": "ex04_masks",
    "attention-mask-without-effect": "ex05_attention",
    "decoder-target-mask-not-used": "ex09_decoder",
    "decoder-cross-missing": "ex09_decoder",
    "transformer-no-causal-mask": "ex10_transformer",
    "transformer-softmax-in-forward": "ex10_transformer",
    "batching-no-shift": "ex12_batching",
    "training-mean-over-all-places": "ex13_training",
    "training-gradients-thrown-away": "ex13_training",
    "translation-first-position": "ex14_generation",
}
"""Misconceptions, and the exercise that a look at an untrained model goes back to where nobody checked it before."""


@pytest.mark.long
@pytest.mark.parametrize("misconception", SENT_BACK)
def test_a_model_that_is_not_right_is_sent_back_to_its_exercise(translate: Any, misconception: str) -> None:
    with pytest.raises(FaultyExercise) as raised:
        looked_at(translate, wrong(misconception))
    assert raised.value.exercise == SENT_BACK[misconception]


@pytest.mark.worker
def test_an_exception_of_a_students_code_is_reported_with_its_line(
    root: Path, first: subprocess.CompletedProcess[str]
) -> None:
    assert first.returncode == 0
    file = root / "exercises" / "ex13_training.py"
    right = file.read_bytes()
    file.write_bytes(right.replace(b"    model.train()\n", b'    print("here")\n    model.trane()\n', 1))
    try:
        ended = translated(root, fresh=True)
    finally:
        file.write_bytes(right)
    assert ended.returncode == 1
    assert "ex13_training.py, line " in ended.stdout
    assert "your code raised AttributeError: 'Transformer' object has no attribute 'trane'" in ended.stdout
    assert "Next: course check 13" in ended.stdout
    assert "Your code printed 1 line, hidden here. The first: here" in ended.stdout
