"""`course play chat`, and `look` at its model, on a small scale."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch

from play.chatter import END, Chatter, learn_tokenizer
from play.lens import describe_induction, describe_lens, induction, look_through
from play.model_file import packed, unpacked
from play.sanity_chat import check_chatter
from play.speed import measure
from play.text import read_tales
from tests.support.play_programs import SOLUTIONS, played, solved, standing_on, wrong

SIZES = {
    "characters": 30_000, "entries": 300, "batch": 2, "context": 48, "width": 16, "heads": 4, "groups": 2, "blocks": 2,
    "hidden": 24, "window": 0,
}  # fmt: skip
SMALL = {**SIZES, "text": "", "temperature": 0.8, "top-p": 0.95, "length": 12}
LOOK = {"of": "chat", "html": "", "more": 3}


def chatter_on(stage: Any, **others: Any) -> Chatter:
    """Return an untrained model with a tokenizer."""
    vocab, merges = learn_tokenizer(stage, read_tales(20_000).training[:5_000], 300)
    arguments = {
        "vocab_size": len(vocab), "context_length": 48, "d_model": 32, "num_layers": 2, "num_heads": 4, "d_ff": 48,
        "num_kv_heads": 2, "window": None, "tie_weights": True,
    }  # fmt: skip
    return Chatter(stage, vocab, merges, {**arguments, **others})


@pytest.mark.long
@pytest.mark.parametrize("window", [None, 5])
def test_the_solutions_pass_every_check_before_training(window: int | None) -> None:
    with standing_on(SOLUTIONS, SMALL) as stage:
        chatter = chatter_on(stage, window=window)
        check_chatter(stage, chatter, read_tales(20_000).held_out[:300].replace("\n\n", "\n"))
        assert len(stage) == 5
        assert not stage.faults


def test_words_alone_have_the_tokens_that_they_have_in_a_text() -> None:
    text = "It's 1984: the cat's  milk\n is “cold” — naïve_way!\n\nThe end.  "
    with standing_on(SOLUTIONS, SMALL) as stage:
        chatter = chatter_on(stage)
        assert chatter.ids(text) == chatter.tokenizer.encode(text.replace("\n\n", END))
        assert chatter.text(chatter.ids(text)) == text


def test_a_file_has_the_model_and_its_tokenizer() -> None:
    with standing_on(SOLUTIONS, SMALL) as stage:
        chatter = chatter_on(stage)
        again = unpacked(stage, packed(stage, chatter))
        ids = chatter.batch([[chatter.end, *chatter.ids("Once upon a time")]])
        with torch.no_grad():
            assert torch.equal(chatter.model(ids), again.model(ids))
        assert again.vocabulary == chatter.vocabulary
        assert again.merges == chatter.merges
        assert again.model.lm_head.weight is again.model.token_embeddings.weight


def test_the_memory_of_the_cache_is_that_of_its_heads() -> None:
    with standing_on(SOLUTIONS, SMALL) as stage:
        [found] = measure(stage, chatter_on(stage), "Once upon a time there was a tailor in the village.")
        assert found.held == 2 * 2 * 2 * 8 * (16 + 32 - 1) * 4  # layers, K and V, heads, K, tokens, bytes
        assert found.for_all_heads == 2 * found.held
        assert not stage.faults


@pytest.mark.long
@pytest.mark.parametrize(
    ("misconception", "exercise"),
    [
        ("modern-tied-with-large-rows", "ex22_modern_model"),
        ("modern-offset-ignored", "ex20_kv_cache"),
        ("modern-mask-of-length", "ex21_sliding_window"),
    ],
)
def test_a_mistake_is_found_before_the_training(misconception: str, exercise: str) -> None:
    with standing_on(wrong(misconception), SMALL) as stage:
        stage.anyway = True
        chatter = chatter_on(stage, window=5 if "mask" in misconception else None, num_layers=1)
        try:
            check_chatter(stage, chatter, "One day.")
        except RuntimeError:
            assert "mask" in misconception  # a mask that does not fit the keys
            return
        assert [name for name, _ in stage.faults] == [exercise]


def test_the_lens_ends_with_the_prediction_of_the_model_and_an_even_head_has_the_even_score() -> None:
    with standing_on(SOLUTIONS, SMALL) as stage:
        chatter = chatter_on(stage)
        lens = look_through(stage, chatter, "Once upon a time")
        assert len(lens.predictions) == 3
        assert all(len(row) == len(lens.tokens) for row in lens.predictions)
        assert len(list(describe_lens(lens))) == len(lens.tokens)
        for layer in chatter.model.layers:
            torch.nn.init.zeros_(layer.attn.q_proj.weight)  # every key gets the same weight
        found = induction(stage, chatter)
        assert len(found.scores) == 2
        assert all(abs(score - found.even) < 1e-4 for layer in found.scores for score in layer)
        assert "1.0 times as much" in list(describe_induction(found))[-1]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose exercises are all solved, with what there is to play."""
    return solved(tmp_path_factory.mktemp("chat"))


@pytest.fixture(scope="module")
def first(root: Path) -> subprocess.CompletedProcess[str]:
    """A first training, of a few steps."""
    return played(root, "chat", steps=3, options=SMALL, say=["Once"], json=str(root / "chat.json"))


@pytest.mark.worker
def test_it_trains_measures_writes_a_file_and_continues_a_text(
    root: Path, first: subprocess.CompletedProcess[str]
) -> None:
    assert first.returncode == 0, first.stdout + first.stderr
    assert "a 5-gram model" in first.stdout
    assert "Both ways write the same text." in first.stdout
    assert "Read back, it has the same logits." in first.stdout
    assert "\nOnce" in first.stdout
    assert list(root.rglob("chat.safetensors"))
    figures = json.loads((root / "chat.json").read_text("utf-8"))
    figures = figures.get("figures", figures)
    assert figures["steps"] == 3
    assert figures["speed"]


@pytest.mark.worker
def test_look_shows_its_scores_and_its_lens(
    root: Path, first: subprocess.CompletedProcess[str], tmp_path: Path
) -> None:
    assert first.returncode == 0
    page = tmp_path / "look.html"
    done = played(root, "look", steps=None, options={**LOOK, "html": str(page)}, say=["Once upon a time"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "A head that looks evenly has" in done.stdout
    assert "final from layer" in done.stdout
    assert "Logit lens" in page.read_text("utf-8")
