"""Train the language model on a text, compare it with a 5-gram model, and let it go on from what is typed."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from torch import optim

from autograder.course.names import UsageError
from autograder.learner.play.live import Row
from autograder.learner.play.stage import Stage
from play.learning import LOOKED_AT, adam, check_sizes, kept_before, learn
from play.pieces import Pieces, learned
from play.rival import MOST, ORDER, bits, fitted
from play.sanity_of_writer import sane
from play.text import LEAST, Source, read, told
from play.writer import Paired, Writer

STEPS = 1000
WARMUP, SCALE, COOLING = 120, 0.8, 0.6
"""The steps of the warm-up, what its rate is multiplied by, and the share of the steps in which it goes down to 0."""

MADE_WITH = {"characters": LEAST, "pieces": 100, "batch": 1, "window": 8, "width": 2, "heads": 1, "blocks": 1}
"""The options that a training depends on, and the least each can be; the others are about writing."""

SAMPLE = 24
"""How many pieces are written while it trains."""

KNOBS = {"temperature": 0.0, "top-p": 0.0, "top-k": 0, "length": 1}
"""What can be turned between two prompts, and the least it can be."""


def play(stage: Stage) -> dict[str, Any]:
    """Train, unless that was done before; say how good it is, and go on with what is typed."""
    knobs = _knobs({name: stage.options[name] for name in KNOBS})
    check_sizes(stage.options, MADE_WITH)
    steps = stage.steps or STEPS
    source = read(Path(str(stage.options["text"]))) if stage.options["text"] else told(int(stage.options["characters"]))
    sizes = {**{name: stage.options[name] for name in MADE_WITH}, "text": f"{source.name} ({source.digest})"}
    kept = kept_before(stage, sizes)
    if kept is not None and kept["step"] >= steps and "figures" in kept:
        writer, figures = _known(stage, kept), dict(kept["figures"])
        stage.print(f"Trained before, {kept['step']:,} steps; --fresh starts over.")
    else:
        writer, figures = _trained(stage, source, steps, sizes, kept)
    _said(stage, figures)
    _go_on(stage, writer, knobs)
    return figures


def trained(stage: Stage) -> Writer | None:
    """Return what `course play write` trained, None where it was not run; for another activity.

    Raises `CheckpointError` where it was trained with other code than is there now.
    """
    kept = stage.checkpoint_of("write").load()
    return None if kept is None else _known(stage, kept)


def _known(stage: Stage, kept: Mapping[str, Any]) -> Writer:
    writer = Writer(stage, Pieces(kept["characters"], kept["joins"]), kept["options"])
    writer.model.load_state_dict(kept["model"])
    return writer


def _trained(
    stage: Stage, source: Source, steps: int, sizes: dict[str, Any], kept: dict[str, Any] | None
) -> tuple[Writer, dict[str, Any]]:
    """Train, and return the figures."""
    started = time.monotonic()
    pieces = learned(source.learned, int(stage.options["pieces"]))
    if len(pieces.characters) > MOST:
        found = f"{source.name} has {len(pieces.characters):,} different characters"
        raise UsageError(f"{found}, expected {MOST:,} or fewer, which is what the 5-gram model can tell apart")
    writer = Writer(stage, pieces, sizes)
    ids = writer.ids(source.learned)
    stage.print(
        f"{source.name}: {len(source.learned):,} characters to learn from, the last {len(source.held_out):,} held out. "
        f"{len(pieces.all):,} pieces, {len(source.learned) / len(ids):.1f} characters each."
    )
    rows = _rows(stage, ids, writer.window)
    if kept is None:
        sane(stage, writer, writer.new_model(**LOOKED_AT))
    paired = Paired(writer.model)
    optimizer = adam(writer.model)
    before = time.monotonic() - started
    seconds = learn(
        stage,
        writer.model,
        optimizer,
        steps=steps,
        sizes=sizes,
        kept=kept,
        more={"characters": pieces.characters, "joins": [list(each) for each in pieces.joins], "options": sizes},
        rate=lambda step: _rate(stage, step, steps),
        update=_updates(stage, writer, paired, optimizer, rows),
        samples=lambda: _samples(writer, source),
        unit="pieces",
    )
    tested = time.monotonic()
    figures: dict[str, Any] = {
        "text": source.name,
        "steps": max(steps, int(kept["step"]) if kept else 0),
        "held_out": len(source.held_out),
    }
    tail = writer.ids(source.held_out)
    figures["nats"] = writer.nats(ids, tail) * len(tail) / len(source.held_out)
    figures["rival"] = rival_nats(source, pieces.characters)
    figures["seconds"] = round(before + seconds + time.monotonic() - tested, 1)
    finished = stage.checkpoint.load(sizes) or {}
    stage.checkpoint.save({**finished, "figures": figures}, sizes)
    return writer, figures


def rival_nats(source: Source, characters: str) -> float:
    """Return the nats a character of the 5-gram model, on the same text, learnt from the same."""
    place = {each: at for at, each in enumerate(characters)}
    ids = [place[each] for each in source.learned]
    held_out = [place[each] for each in source.held_out]
    return fitted(ids, len(characters)).nats([*ids[1 - ORDER :], *held_out])


def _rows(stage: Stage, ids: list[int], window: int) -> Callable[[int], list[list[int]]]:
    """Return the function that draws the windows of a step: the same ones after a stop."""
    if len(ids) <= window + 1:
        raise UsageError(f"the text has {len(ids):,} pieces, expected more than the window of {window}")
    size = int(stage.options["batch"])

    def rows(step: int) -> list[list[int]]:
        draw = Random(f"{stage.seed} {step}")
        starts = [draw.randrange(len(ids) - window) for _ in range(size)]
        return [ids[at : at + window + 1] for at in starts]

    return rows


def _rate(stage: Stage, step: int, steps: int) -> float:
    """Return the learning rate: that of ex13, brought down to 0 at the end."""
    rate = stage.own("ex13_training").warmup_learning_rate(step, stage.options["width"], WARMUP)
    return float(rate) * SCALE * min(1.0, (steps + 1 - step) / (COOLING * steps))


def _updates(
    stage: Stage,
    writer: Writer,
    paired: Paired,
    optimizer: optim.Optimizer,
    rows: Callable[[int], list[list[int]]],
) -> Callable[[int], tuple[float, int]]:
    train_step = stage.own("ex13_training").train_step

    def update(step: int) -> tuple[float, int]:
        batch = writer.batch(rows(step))
        return float(train_step(paired, optimizer, batch, batch, max_grad_norm=1.0)), batch[:, 1:].numel()

    return update


def _samples(writer: Writer, source: Source) -> list[Row]:
    """Return how it goes on from the first line of what is held out, and from half of it."""
    lines = source.held_out.split("\n")
    line = next((each for each in lines if len(each.split()) > 1), max(lines, key=len).strip())[:60]
    words = line.split()
    half = " ".join(words[: (len(words) + 1) // 2]) if len(words) > 1 else line[: len(line) // 2]
    return [(each, writer.continued(each, SAMPLE, seed=1, temperature=0.0), None) for each in (half, line)]


def _said(stage: Stage, figures: Mapping[str, Any]) -> None:
    """Say how good it is; what is known to be wrong stands before it."""
    for exercise, message in stage.faults:
        own = stage.course.exercise(exercise)
        stage.print(f"Trained although {own.number} {own.title} is not right: {message}", "red")
    own_nats, rival = float(figures["nats"]), float(figures["rival"])
    stage.print(
        f"On the {figures['held_out']:,} characters held out: your model {own_nats:.3f} nats a character "
        f"({bits(own_nats):.3f} bits), a 5-gram model {rival:.3f} ({bits(rival):.3f} bits)."
    )
    stage.print(f"{figures['seconds']:.0f} s for all of it, {figures['steps']:,} steps.")
    if stage.faults:
        stage.print("With an exercise that is not right these figures say nothing about who is better.")
    elif own_nats < rival:
        stage.print("Your model is the better one: it remembers more than four characters.", "green")
    else:
        stage.print("The 5-gram model is still the better one. Train longer with --steps N.")


def _go_on(stage: Stage, writer: Writer, knobs: dict[str, float]) -> None:
    """Go on with what is typed; a knob is turned by its name and a number."""
    if not stage.say:
        stage.print("Type the beginning of a text; an empty line ends. Lines like `temperature 0.5`, `top-k 20`,")
        stage.print("`top-p 0.9` and `length 200` change how it goes on.")
    for number, line in enumerate(stage.inputs("> ")):
        name, _, value = line.partition(" ")
        if name in KNOBS and _is_number(value):
            try:
                knobs = _knobs({**knobs, name: float(value)})
            except UsageError as error:
                stage.print(f"{error}.")
            else:
                stage.print(", ".join(f"{each} {at:g}" for each, at in knobs.items()))
            continue
        unknown = sorted({each for each in line if each not in writer.pieces.characters})
        if unknown:
            stage.print(f"The text it learned from has no {' '.join(unknown)}.")
        written = writer.continued(
            line,
            int(knobs["length"]),
            seed=stage.seed + number,
            temperature=knobs["temperature"],
            top_k=int(knobs["top-k"]) or None,
            top_p=knobs["top-p"] if knobs["top-p"] < 1 else None,
        )
        for each in (line + written).rstrip().split("\n"):
            stage.print(each)


def _knobs(knobs: Mapping[str, Any]) -> dict[str, float]:
    """Return the knobs as numbers. Raises `UsageError` where one cannot be what it is."""
    for name, value in knobs.items():
        if not float(value) >= KNOBS[name] or float(value) == float("inf"):
            raise UsageError(f"{name} is {float(value):g}, expected {KNOBS[name]:g} or more")
        if name in ("top-k", "length") and float(value) != int(float(value)):
            raise UsageError(f"{name} is {float(value):g}, expected a whole number")
    if float(knobs["top-p"]) > 1:
        raise UsageError(f"top-p is {float(knobs['top-p']):g}, expected a share from 0 to 1")
    return {name: float(value) for name, value in knobs.items()}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
