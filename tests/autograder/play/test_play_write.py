"""`course play write` and `look` on a small scale: the text, its pieces, what is said, what is sent back."""

import json
import math
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from autograder.course import UsageError
from autograder.play import CheckpointError
from autograder.play.stage import FaultyExercise
from play.pieces import Pieces, learn_pieces
from play.tales.telling import DAYS, NUMBERS, Teller, tales
from play.text import LEAST, UNKNOWN, read_file, read_tales
from tests.support.play_programs import SOLUTIONS, VARIANTS, played, solved, standing_on, variant, wrong

SIZES = {"characters": 30_000, "pieces": 200, "batch": 4, "window": 32, "width": 32, "heads": 2, "blocks": 1}
SMALL = {**SIZES, "text": "", "temperature": 0.8, "top-k": 0, "top-p": 0.95, "length": 12}


def test_tales_are_the_same_for_a_seed_and_no_tale_is_in_both_parts() -> None:
    assert tales(1, 5_000) == tales(1, 5_000)
    assert tales(1, 5_000) != tales(2, 5_000)
    source = read_tales(60_000)
    learned_ones, held_out = ({*part.split("\n\n")} for part in (source.training, source.held_out))
    assert not learned_ones & held_out
    assert 0.08 < len(source.held_out) / len(source.training + source.held_out) < 0.14
    assert source.digest == read_tales(60_000).digest != read_tales(50_000).digest


@pytest.mark.parametrize("name", ["quest", "swaps", "market", "chain", "riddles", "contest", "letters", "week"])
def test_every_kind_of_tale_is_whole(name: str) -> None:
    for seed in range(40):
        title, *parts = getattr(Teller(seed), name)().rstrip("\n").split("\n")
        assert title
        assert len(parts) >= 3
        for part in parts:
            assert part == part.strip()
            assert part[0] in "\"'" or part[0].isupper()
            assert "{" not in part
            assert "  " not in part
            assert part.count('"') % 2 == 0


def test_sums_at_the_market_come_out() -> None:
    for seed in range(30):
        _, opening, *visits, last = Teller(seed).market().lower().rstrip().split("\n")
        left = NUMBERS.index(re.findall(r"to market with (\w+)", opening)[0])
        for visit in visits:
            took, now = (NUMBERS.index(word) for word in re.findall(r"\w+", visit) if word in NUMBERS)
            left -= took
            assert now == left
        assert ("none" if not left else NUMBERS[left]) in re.findall(r"\w+", last)


def test_what_was_brought_is_counted_up_in_the_order_of_the_days() -> None:
    for seed in range(20):
        *_, last = (tale := Teller(seed).week()).rstrip().split("\n")
        days = re.findall("|".join(DAYS), tale)
        assert days == sorted(days, key=DAYS.index)
        names = re.findall(r"from ([A-Z]\w+)", last)
        assert len(names) == len(days) - 1
        assert [tale.index(name) for name in names] == sorted(tale.index(name) for name in names)


def test_pieces_joined_are_the_text_and_the_same_text_gives_the_same_pieces() -> None:
    text = read_tales(20_000).training
    pieces = learn_pieces(text, 200)
    assert len(pieces.all) == 200
    assert pieces.all == learn_pieces(text, 200).all
    assert "".join(pieces.split(text)) == text
    assert len(pieces.split(text)) < len(text) / 2
    assert "".join(pieces.split("Zoë! \t2 — a")) == f"Zo{UNKNOWN}! {UNKNOWN}{UNKNOWN} {UNKNOWN} a"
    again = Pieces(pieces.characters, [list(merge) for merge in pieces.merges])
    assert again.split(text[:500]) == pieces.split(text[:500])


def test_the_most_frequent_pair_is_merged_first() -> None:
    pieces = learn_pieces("abab abab cab", 6)
    assert pieces.merges[0] == ("a", "b")
    assert pieces.split("abc") == ["ab", "c"]
    assert learn_pieces("abc", 90).merges == []


def test_a_file_is_cut_at_the_end_of_a_line_and_one_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "book.txt"
    file.write_text("A line of this book, and not the last.\n" * 700 + "Ωthe last\n", "utf-8")
    source = read_file(file)
    assert source.training.endswith("\n")
    assert source.held_out.endswith(f"{UNKNOWN}the last\n")
    assert len(source.training) + len(source.held_out) == len(file.read_text("utf-8"))
    file.write_text("short", "utf-8")
    with pytest.raises(UsageError, match=f"has 5 characters; expected at least {LEAST:,}"):
        read_file(file)
    file.write_bytes(b"\xff" * LEAST)
    with pytest.raises(UsageError, match="is no text in UTF-8"):
        read_file(file)
    with pytest.raises(UsageError, match=r"cannot be read \(Is a directory\); expected a plain text file"):
        read_file(tmp_path)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose exercises are all solved, with what there is to play."""
    return solved(tmp_path_factory.mktemp("write"))


def asked(root: Path, activity: str, **changes: Any) -> subprocess.CompletedProcess[str]:
    """Run an activity on a small scale."""
    options = SMALL if activity == "write" else {"of": "", "html": "", "more": 3}
    return played(root, activity, **{"steps": 2, "options": options, **changes})


@pytest.fixture(scope="module")
def first(root: Path) -> subprocess.CompletedProcess[str]:
    """A first training, of a few steps, after somebody asked to look at it."""
    early = asked(root, "look", say=["hello"])
    assert (early.returncode, early.stderr.split("; ")[1:]) == (2, ["run `course play translate` first\n"])
    say = ["Mira and the lamp", "temperature 0", "top-p 3", "top-k -1", "temperature nan", "length 2.5", "Zoë"]
    return asked(root, "write", say=say, json=str(root / "figures.json"))


@pytest.mark.slow
@pytest.mark.worker
def test_it_trains_compares_itself_and_continues_a_text(root: Path, first: subprocess.CompletedProcess[str]) -> None:
    assert (first.returncode, first.stderr) == (0, "")
    for said in (
        "tales of the kit: 2",
        "200 pieces, ",
        "The loss before training is 5.",
        "Each piece of the text sees the earlier ones, and no later one.",
        "and continues 100% correctly.",
        "Step 2 of 2: loss",
        "held-out characters: your model",
        "The 5-gram model is still better.",
        "\nMira and the lamp",
        "temperature 0, top-p 0.95, top-k 0, length 12",
        "top-p is 3, expected a share from 0 to 1.",
        "top-k is -1, expected 0 or more.",
        "temperature is nan, expected 0 or more.",
        "length is 2.5, expected a whole number.",
        "The training text does not contain: ë.",
    ):
        assert said in first.stdout
    figures = json.loads((root / "figures.json").read_text("utf-8"))["figures"]
    assert set(figures) == {"text", "steps", "held_out", "nats", "rival", "seconds"}
    assert 0 < figures["rival"] < figures["nats"]


@pytest.mark.worker
def test_what_was_trained_is_used_again_and_no_figure_is_praised_where_something_is_wrong(
    root: Path, first: subprocess.CompletedProcess[str]
) -> None:
    assert first.returncode == 0
    again = asked(root, "write", say=["Mira and the lamp"], wrong=[["ex05_attention", "not scaled"]])
    assert (again.returncode, again.stderr) == (0, "")
    assert "This model is trained already (2 steps); --fresh starts over." in again.stdout
    assert "Trained although 05 attention fails: not scaled" in again.stdout
    assert "these figures do not show which model is better" in again.stdout
    line = next(line for line in first.stdout.split("\n") if line.startswith("Mira and the lamp"))
    assert line in again.stdout


@pytest.mark.worker
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"text": "no.txt"}, "no.txt cannot be read (No such file or directory); expected a plain text file"),
        (
            {"width": 16},
            "with --width 32, this is --width 16; say --width 32 to use it, or --fresh to start over",
        ),
    ],
)
def test_an_impossible_option_is_reported_in_a_sentence(
    root: Path, first: subprocess.CompletedProcess[str], change: dict[str, Any], said: str
) -> None:
    assert first.returncode == 0
    done = asked(root, "write", options={**SMALL, **change})
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_width_that_the_heads_do_not_divide_is_refused() -> None:
    from play import write

    with pytest.raises(UsageError, match=r"^--width is 33, expected a multiple of --heads 2$"):
        write.play(SimpleNamespace(options={**SMALL, "width": 33}))


class Tags(HTMLParser):
    """The tags of a page that are opened and closed, and what it would load."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.loads += [f"{name}={value}" for name, value in attrs if name in ("src", "href", "srcset", "data")]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.worker
def test_attention_is_printed_written_as_json_and_drawn(
    root: Path, first: subprocess.CompletedProcess[str], tmp_path: Path
) -> None:
    assert first.returncode == 0
    page, data = tmp_path / "page.html", tmp_path / "data.json"
    options = {"of": "write", "html": str(page), "more": 3}
    done = asked(root, "look", say=["Mira <met>", "owl " * 60], options=options, json=str(data))
    assert (done.returncode, done.stderr) == (0, "")
    assert "Block 1, head 2, attends most: / to / (1.00)," in done.stdout
    assert "pieces, with the 3 that the model adds; expected at most 25." in done.stdout
    figures = json.loads(data.read_text("utf-8"))["figures"]
    [sentence] = figures["sentences"]
    [block] = sentence["blocks"]
    assert len(block["heads"]) == 2
    for head in block["heads"]:
        assert len(head) == len(block["rows"]) == len(block["columns"])
        for place, row in enumerate(head):
            assert sum(row) == pytest.approx(1, abs=0.01)
            assert not any(row[place + 1 :])
    tags = Tags()
    tags.feed(page.read_text("utf-8"))
    assert not tags.open
    assert not tags.loads
    assert tags.seen.count("svg") == 2
    assert not {"script", "link", "img", "iframe"} & set(tags.seen)
    assert "Mira &lt;" in page.read_text("utf-8")


@pytest.mark.worker
def test_a_terminal_gets_maps_with_numbered_rows(root: Path, first: subprocess.CompletedProcess[str]) -> None:
    assert first.returncode == 0
    options = {"of": "write", "html": "", "more": 0}
    done = asked(root, "look", say=["Mira"], options=options, plain=False, color=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "rows: the pieces of the text, each while the model predicts the next one; columns: 1 /, 2 M" in " ".join(
        done.stdout.split()
    ).replace("\x1b[90m", "").replace("\x1b[0m", "")


@pytest.fixture
def only_write(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A stage on which write was trained, and translate with another seed."""
    from play import translate, write

    def refused(_stage: Any) -> None:
        raise CheckpointError("translate.pt was made with --seed 2, this is --seed 1", "--seed 2")

    monkeypatch.setattr(translate, "load_trained", refused)
    monkeypatch.setattr(write, "load_trained", lambda _: "the writer")
    course = SimpleNamespace(play=[SimpleNamespace(id="translate"), SimpleNamespace(id="write")])
    return SimpleNamespace(options={"of": "", "html": "", "more": 1}, say=["Mira"], course=course)


def test_a_checkpoint_that_does_not_fit_hides_no_other(only_write: Any) -> None:
    from play.look import _trained

    assert _trained(only_write, "") == ("the writer", "write")
    with pytest.raises(UsageError, match=r"this is --seed 1; say --seed 2, or run `course play translate --fresh` fir"):
        _trained(only_write, "translate")


def test_a_page_needs_a_file(only_write: Any, tmp_path: Path) -> None:
    from play.look import play

    only_write.options["html"] = str(tmp_path)
    with pytest.raises(UsageError, match="is a folder, expected a file"):
        play(only_write)


def looked_at(sources: dict[str, bytes], **sizes: int) -> Any:
    """Look at an untrained model made of these sources, and return the lines that were printed."""
    from play.sanity_writer import check_model
    from play.writer import Writer

    with standing_on(sources, SIZES) as stage:
        writer = Writer(stage, Pieces("abcdefghijklmnopqrstuvwxyz ", []), {**SIZES, **sizes})
        check_model(stage, writer, writer.new_model())
        return stage


@pytest.mark.long
def test_a_model_with_the_shortest_window_is_examined_too() -> None:
    from play.write import MADE_WITH

    assert len(looked_at(SOLUTIONS, window=MADE_WITH["window"])) == 3


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> list[torch.nn.Module]:
    """Every model that is looked at, after which nothing is trained."""
    from play import write

    seen: list[torch.nn.Module] = []

    def check_model(_stage: Any, _writer: Any, model: torch.nn.Module) -> None:
        seen.append(model)
        raise FaultyExercise("ex11_language_model", "")

    monkeypatch.setattr(write, "check_model", check_model)
    return seen


def test_the_examined_model_has_the_same_sizes_for_all_options(models: list[torch.nn.Module]) -> None:
    from play.write import _train

    for other in ({"width": 16, "heads": 1}, {"width": 256, "blocks": 6}):
        with standing_on(SOLUTIONS, {**SIZES, **other}) as stage, pytest.raises(FaultyExercise):
            _train(stage, read_tales(LEAST), 1, {**SIZES, **other}, None)
    one, two = ([tuple(parameter.shape) for parameter in model.parameters()] for model in models)
    assert one == two


def test_the_figures_count_the_steps_that_were_made(monkeypatch: pytest.MonkeyPatch) -> None:
    from play import write

    def training(*_: Any, steps: int, **__: Any) -> SimpleNamespace:
        made = SimpleNamespace(step=0)
        made.run = lambda kept: vars(made).update(step=max(steps, kept["step"])) or 0.0
        return made

    monkeypatch.setattr(write, "Training", training)
    monkeypatch.setattr(write, "rival_nats", lambda *_: 1.0)
    monkeypatch.setattr(write.Writer, "nats", lambda *_: 1.0)  # type: ignore[attr-defined]
    with standing_on(SOLUTIONS, SIZES) as stage:
        stage.checkpoint = SimpleNamespace(load=lambda _: {}, save=lambda *_: None)
        for steps, made in ((2, 3), (4, 4)):
            assert write._train(stage, read_tales(LEAST), steps, SIZES, {"step": 3})[1]["steps"] == made


def test_a_text_with_too_many_characters_for_the_rival_is_refused_before_the_training() -> None:
    from play.rival import MOST
    from play.text import Source
    from play.write import _train

    text = "".join(chr(0x4E00 + at) for at in range(MOST))  # with the unknown one it is one too many
    with (
        standing_on(SOLUTIONS, SIZES) as stage,
        pytest.raises(UsageError, match="has 6,209 different characters, expected 6,208 or fewer"),
    ):
        _train(stage, Source("text", text, ""), 1, SIZES, None)


class Accelerated(torch.Tensor):
    """Attention on a device that has no float64."""

    def double(self, *_: Any, **__: Any) -> torch.Tensor:
        raise TypeError("no float64 here")

    def cpu(self, *_: Any, **__: Any) -> torch.Tensor:
        return self.as_subclass(torch.Tensor)


def test_attention_on_a_device_without_float64_can_be_shown() -> None:
    from play.attention import _heads

    part: Any = torch.nn.Module()
    part.attention_weights = torch.full((1, 2, 2, 4), 0.25).as_subclass(Accelerated)
    with standing_on(SOLUTIONS, {}) as stage:
        assert _heads(stage, part, "", "", "ab", "abcd").weights == (((0.25,) * 4,) * 2,) * 2


def test_the_least_there_can_be_of_the_tales_has_no_character_that_was_not_learnt() -> None:
    for source in (read_tales(LEAST), read_tales(2 * LEAST)):
        assert not set(source.held_out) - set(source.training) - {UNKNOWN}


@pytest.mark.parametrize(
    ("held_out", "half", "line"),
    [
        ("one\n\nthe wolf and the hen\n", "the wolf and", "the wolf and the hen"),
        ("wolf\ncrane\nhen\n", "cr", "crane"),
        ("\n\n", "", ""),
    ],
)
def test_samples_continue_lines_of_any_text(held_out: str, half: str, line: str) -> None:
    from play.text import Source
    from play.write import _samples

    class Silent:
        def continued(self, *_: Any, **__: Any) -> str:
            return ""

    writer: Any = Silent()
    assert _samples(writer, Source("text", "", held_out)) == [(half, "", None), (line, "", None)]


@pytest.mark.long
@pytest.mark.parametrize("sources", [SOLUTIONS, *map(variant, VARIANTS)], ids=["solutions", *VARIANTS])
def test_a_correct_model_passes_every_check(sources: dict[str, bytes]) -> None:
    assert len(looked_at({**SOLUTIONS, **sources})) == 3


class Copier(torch.nn.Module):
    """Says what comes next by looking at it where `cheats`, else that all ids are as likely."""

    def __init__(self, ids: int, *, cheats: bool) -> None:
        super().__init__()
        self.ids, self.cheats = ids, cheats

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        later = torch.nn.functional.one_hot(ids.roll(-1, 1), self.ids) * 20.0
        return later if self.cheats else torch.zeros_like(later)


def test_a_model_that_sees_what_comes_later_gains_nothing_by_it() -> None:
    from play.writer import Writer

    with standing_on(SOLUTIONS, SIZES) as stage:
        writer = Writer(stage, Pieces("abcdefghijklmnopqrstuvwxyz ", []), SIZES)
    ids = torch.randint(4, 32, (500,), generator=torch.Generator().manual_seed(1)).tolist()
    writer.model = Copier(32, cheats=False)
    assert writer.nats(ids[:20], ids[20:]) == pytest.approx(math.log(32), abs=1e-4)
    writer.model = Copier(32, cheats=True)
    assert writer.nats(ids[:20], ids[20:]) > 5


SENT_BACK = {
    "masks-look-ahead-upper": "ex04_masks",
    "masks-look-ahead-one-too-far": "ex04_masks",
    "attention-mask-without-effect": "ex05_attention",
    "language-no-causal-mask": "ex11_language_model",
    "language-one-token-ahead": "ex11_language_model",
    "language-softmax-in-forward": "ex11_language_model",
    "batching-no-shift": "ex12_batching",
    "training-loss-summed": "ex13_training",
    "training-gradients-thrown-away": "ex13_training",
    "generation-first-position": "ex14_generation",
    "generation-prompt-dropped": "ex14_generation",
}
"""Misconceptions, and the exercise that a look at an untrained model goes back to where nobody checked it before."""


@pytest.mark.long
@pytest.mark.parametrize("misconception", SENT_BACK)
def test_a_model_that_is_not_right_is_sent_back_to_its_exercise(misconception: str) -> None:
    with pytest.raises(FaultyExercise) as raised:
        looked_at(wrong(misconception))
    assert raised.value.exercise == SENT_BACK[misconception]
