"""Train the language model on a text, compare it with a 5-gram model, and continue typed texts."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from torch import optim

from autograder.course import UsageError
from autograder.play import Row, Stage
from autograder.report import duration
from play.learning import (
    EXAMINED_SIZES,
    Schedule,
    Training,
    adam,
    check_sizes,
    learning_rate,
    load_checkpoint,
    print_faults,
    save_figures,
)
from play.pieces import Pieces, learn_pieces
from play.rival import MOST, ORDER, bits, fitted
from play.sampling import SAMPLING, changed, checked
from play.sanity_writer import check_model
from play.text import LEAST, Source, read_file, read_tales
from play.writer import AsTransformer, Writer

STEPS = 1000
SCHEDULE: Schedule = {"warmup": 120, "scale": 0.8, "cooling": 0.6}

MADE_WITH = {"characters": LEAST, "pieces": 100, "batch": 1, "window": 8, "width": 2, "heads": 1, "blocks": 1}
"""The options that a training depends on, with the least value of each. The others are about writing."""

SAMPLE = 24
"""The length of a sample during training, in pieces."""


def play(stage: Stage) -> dict[str, Any]:
    """Train unless a checkpoint is complete, print how good the model is, and continue typed texts."""
    sampling = checked({name: stage.options[name] for name in SAMPLING})
    check_sizes(stage.options, MADE_WITH)
    steps = stage.steps or STEPS
    source = (
        read_file(Path(str(stage.options["text"])))
        if stage.options["text"]
        else read_tales(int(stage.options["characters"]))
    )
    sizes = {**{name: stage.options[name] for name in MADE_WITH}, "text": f"{source.name} ({source.digest})"}
    kept = load_checkpoint(stage, sizes)
    if kept is not None and kept["step"] >= steps and "figures" in kept:
        writer, figures = _load(stage, kept), dict(kept["figures"])
        stage.print(f"This model is trained already ({kept['step']:,} steps); --fresh starts over.")
    else:
        writer, figures = _train(stage, source, steps, sizes, kept)
    _report(stage, figures)
    _continue_lines(stage, writer, sampling)
    return figures


def load_trained(stage: Stage) -> Writer | None:
    """Return the model of `course play write` for another activity; None if there is none.

    Raises `CheckpointError` if it was trained with other code.
    """
    kept = stage.checkpoint_of("write").load()
    return None if kept is None else _load(stage, kept)


def _load(stage: Stage, kept: Mapping[str, Any]) -> Writer:
    writer = Writer(stage, Pieces(kept["characters"], kept["joins"]), kept["options"])
    writer.model.load_state_dict(kept["model"])
    return writer


def _train(
    stage: Stage, source: Source, steps: int, sizes: dict[str, Any], kept: dict[str, Any] | None
) -> tuple[Writer, dict[str, Any]]:
    """Train, and return the model and its figures."""
    started = time.monotonic()
    writer, ids = _prepare(stage, source, sizes)
    pieces = writer.pieces
    rows = _rows(stage, ids, writer.window)
    if kept is None:
        check_model(stage, writer, writer.new_model(**EXAMINED_SIZES))
    as_transformer = AsTransformer(writer.model)
    optimizer = adam(writer.model)
    before = time.monotonic() - started
    training = Training(
        stage,
        writer.model,
        optimizer,
        steps=steps,
        sizes=sizes,
        more={"characters": pieces.characters, "joins": [list(pair) for pair in pieces.merges], "options": sizes},
        rate=lambda step: learning_rate(stage, step, steps, **SCHEDULE),
        update=_updates(stage, writer, as_transformer, optimizer, rows),
        samples=lambda: _samples(writer, source),
        unit="pieces",
    )
    seconds = training.run(kept)
    tested = time.monotonic()
    figures: dict[str, Any] = {
        "text": source.name,
        "steps": training.step,
        "held_out": len(source.held_out),
    }
    tail = writer.ids(source.held_out)
    figures["nats"] = writer.nats(ids, tail) * len(tail) / len(source.held_out)
    figures["rival"] = rival_nats(source, pieces.characters)
    figures["seconds"] = round(before + seconds + time.monotonic() - tested, 1)
    save_figures(stage, sizes, figures)
    return writer, figures


def _prepare(stage: Stage, source: Source, sizes: Mapping[str, Any]) -> tuple[Writer, list[int]]:
    """Return an untrained writer, and the training text as ids. Raises `UsageError` for an unsuitable text."""
    pieces = learn_pieces(source.training, int(stage.options["pieces"]))
    if len(pieces.characters) > MOST:
        found = f"{source.name} has {len(pieces.characters):,} different characters"
        raise UsageError(f"{found}, expected {MOST:,} or fewer, because the 5-gram model cannot handle more")
    writer = Writer(stage, pieces, sizes)
    ids = writer.ids(source.training)
    lengths = f"{len(source.training):,} characters to train on, the last {len(source.held_out):,} held out"
    stage.print(f"{source.name}: {lengths}.")
    stage.print(f"{len(pieces.all):,} pieces, {len(source.training) / len(ids):.1f} characters each.")
    return writer, ids


def rival_nats(source: Source, characters: str) -> float:
    """Return the nats per character of the 5-gram model, trained and tested on the same parts."""
    place = {letter: at for at, letter in enumerate(characters)}
    ids = [place[letter] for letter in source.training]
    held_out = [place[letter] for letter in source.held_out]
    return fitted(ids, len(characters)).nats([*ids[1 - ORDER :], *held_out])


def _rows(stage: Stage, ids: list[int], window: int) -> Callable[[int], list[list[int]]]:
    """Return the function that draws the windows of a step: the same ones if the training is resumed."""
    if len(ids) <= window + 1:
        raise UsageError(f"the text has {len(ids):,} pieces, expected more than the --window of {window}")
    size = int(stage.options["batch"])

    def rows(step: int) -> list[list[int]]:
        draw = Random(f"{stage.seed} {step}")
        starts = [draw.randrange(len(ids) - window) for _ in range(size)]
        return [ids[at : at + window + 1] for at in starts]

    return rows


def _updates(
    stage: Stage,
    writer: Writer,
    as_transformer: AsTransformer,
    optimizer: optim.Optimizer,
    rows: Callable[[int], list[list[int]]],
) -> Callable[[int], tuple[float, int]]:
    train_step = stage.own("ex13_training").train_step

    def update(step: int) -> tuple[float, int]:
        batch = writer.batch(rows(step))
        return float(train_step(as_transformer, optimizer, batch, batch, max_grad_norm=1.0)), batch[:, 1:].numel()

    return update


def _samples(writer: Writer, source: Source) -> list[Row]:
    """Return how the model continues the first line of the held-out text, and half of that line."""
    lines = source.held_out.split("\n")
    line = next((text for text in lines if len(text.split()) > 1), max(lines, key=len).strip())[:60]
    words = line.split()
    half = " ".join(words[: (len(words) + 1) // 2]) if len(words) > 1 else line[: len(line) // 2]
    return [(prompt, writer.continued(prompt, SAMPLE, seed=1, temperature=0.0), None) for prompt in (half, line)]


def _report(stage: Stage, figures: Mapping[str, Any]) -> None:
    """Print known faults, then how good the model is."""
    print_faults(stage)
    own_nats, rival = float(figures["nats"]), float(figures["rival"])
    stage.print(
        f"On the {figures['held_out']:,} held-out characters: your model {own_nats:.3f} nats per character "
        f"({bits(own_nats):.3f} bits), a 5-gram model {rival:.3f} ({bits(rival):.3f} bits)."
    )
    stage.print(f"{figures['steps']:,} steps in {duration(figures['seconds'])}.")
    if stage.faults:
        stage.print("An exercise fails, so these figures do not show which model is better.")
    elif own_nats < rival:
        stage.print("Your model is better: it uses more than the last four characters.", "green")
    else:
        stage.print("The 5-gram model is still better. Train longer with --steps N.")


def _continue_lines(stage: Stage, writer: Writer, sampling: dict[str, float]) -> None:
    """Continue typed texts; a line like `top-k 20` changes an option."""
    if not stage.say:
        stage.print("Type the beginning of a text; an empty line ends. To change the sampling, type `temperature 0.5`,")
        stage.print("`top-k 20`, `top-p 0.9` or `length 200`.")
    for count, line in enumerate(stage.inputs("> ")):
        now = changed(stage, sampling, line)
        if now is not None:
            sampling = now
            continue
        unknown = sorted({letter for letter in line if letter not in writer.pieces.characters})
        if unknown:
            stage.print(f"The training text does not contain: {' '.join(unknown)}.")
        written = writer.continued(
            line,
            int(sampling["length"]),
            seed=stage.seed + count,
            temperature=sampling["temperature"],
            top_k=int(sampling["top-k"]) or None,
            top_p=sampling["top-p"] if sampling["top-p"] < 1 else None,
        )
        for text in (line + written).rstrip().split("\n"):
            stage.print(text)
