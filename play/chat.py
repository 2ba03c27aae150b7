"""Train the modern model on a text with the learner's own tokenizer and optimizer, measure it, and continue texts."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from autograder.course import UsageError
from autograder.play import Row, Stage
from autograder.report import duration
from play.chatter import BLANK, Chatter, learn_tokenizer
from play.learning import Training, check_sizes, load_checkpoint, print_faults, save_figures
from play.model_file import write_and_read
from play.rival import bits
from play.sampling import changed, checked
from play.sanity_chat import check_chatter
from play.speed import measure, report
from play.text import LEAST, Source, read_file, read_tales
from play.write import rival_nats

STEPS = 1200
RATE, LEAST_RATE, WARMUP = 4e-3, 4e-4, 60
"""The largest and the smallest learning rate of the schedule of ex26, and the steps of its warm-up."""

BETAS, DECAY = (0.9, 0.95), 0.1
"""Llama's (Touvron et al. 2023, section 2.3)."""

SHORT = 4
"""Half the tokens of a step are in windows that are so many times shorter: a typed text begins with little context."""

MADE_WITH = {
    "characters": LEAST, "entries": 257, "batch": 2, "context": 16, "width": 4, "heads": 1, "groups": 1, "blocks": 1,
    "hidden": 1, "window": 0,
}  # fmt: skip
"""The options that a training depends on, with the least value of each. The others are about sampling."""

SAMPLING = ("temperature", "top-p", "length")

SAMPLE = 24
"""The length of a sample during training, in tokens."""

EXAMINED = 2_000
"""The characters that the tokenizer is examined with."""


def play(stage: Stage) -> dict[str, Any]:
    """Train unless a checkpoint is complete, measure the model, write it to a file, and continue typed texts."""
    sampling = checked({name: stage.options[name] for name in SAMPLING})
    check_sizes(stage.options, MADE_WITH)
    if int(stage.options["heads"]) % int(stage.options["groups"]):
        raise UsageError(f"--heads is {stage.options['heads']}, expected a multiple of --groups")
    source = (
        read_file(Path(str(stage.options["text"])))
        if stage.options["text"]
        else read_tales(int(stage.options["characters"]))
    )
    steps = stage.steps or STEPS
    sizes = {**{name: stage.options[name] for name in MADE_WITH}, "text": f"{source.name} ({source.digest})"}
    kept = load_checkpoint(stage, sizes)
    if kept is not None and kept["step"] >= steps and "figures" in kept:
        chatter, figures = _load(stage, kept), dict(kept["figures"])
        stage.print(f"This model is trained already ({kept['step']:,} steps); --fresh starts over.")
    else:
        chatter, figures = _train(stage, source, steps, sizes, kept)
    _report(stage, figures)
    measured = measure(stage, chatter, source.held_out)
    report(stage, measured)
    chatter = write_and_read(stage, chatter, stage.checkpoint.file.with_suffix(".safetensors"))
    _continue_lines(stage, chatter, sampling)
    return {**figures, "speed": [vars(entry) for entry in measured]}


def load_trained(stage: Stage) -> Chatter | None:
    """Return the model of `course play chat` for another activity; None if there is none.

    Raises `CheckpointError` if it was trained with other code.
    """
    kept = stage.checkpoint_of("chat").load()
    return None if kept is None else _load(stage, kept)


def _load(stage: Stage, kept: Mapping[str, Any]) -> Chatter:
    vocab = {id_: bytes(entry) for id_, entry in enumerate(kept["vocab"])}
    merges = [(bytes(first), bytes(second)) for first, second in kept["merges"]]
    chatter = Chatter(stage, vocab, merges, kept["arguments"])
    chatter.model.load_state_dict(kept["model"])
    return chatter


def _arguments(options: Mapping[str, Any], entries: int) -> dict[str, Any]:
    """Return the arguments of `ModernModel` for these options."""
    return {
        "vocab_size": entries,
        "context_length": int(options["context"]),
        "d_model": int(options["width"]),
        "num_layers": int(options["blocks"]),
        "num_heads": int(options["heads"]),
        "d_ff": int(options["hidden"]),
        "num_kv_heads": int(options["groups"]),
        "window": int(options["window"]) or None,
        "tie_weights": True,
    }


def _train(
    stage: Stage, source: Source, steps: int, sizes: dict[str, Any], kept: dict[str, Any] | None
) -> tuple[Chatter, dict[str, Any]]:
    """Train, and return the model and its figures."""
    started = time.monotonic()
    chatter = _prepare(stage, source) if kept is None else _load(stage, kept)
    ids = chatter.ids(source.training)
    if len(ids) <= chatter.window + 1:
        raise UsageError(f"the text has {len(ids):,} tokens, expected more than the --context of {chatter.window}")
    stage.print(f"{len(chatter.vocabulary):,} tokens, {len(source.training) / len(ids):.1f} characters each.")
    if kept is None:
        check_chatter(stage, chatter, source.held_out[:EXAMINED].replace(BLANK, "\n"))
    own = stage.own("ex26_optimizer")
    optimizer = own.AdamW(chatter.model.parameters(), lr=RATE, betas=BETAS, weight_decay=DECAY)
    before = time.monotonic() - started
    training = Training(
        stage,
        chatter.model,
        optimizer,
        steps=steps,
        sizes=sizes,
        more=_tokenizer_of(chatter),
        rate=lambda step: float(own.cosine_learning_rate(step, RATE, LEAST_RATE, min(WARMUP, steps), steps)),
        update=_updates(stage, chatter, optimizer, ids),
        samples=lambda: _samples(chatter, source),
        unit="tokens",
    )
    seconds = training.run(kept)
    tested = time.monotonic()
    tail = chatter.ids(source.held_out)
    figures: dict[str, Any] = {"text": source.name, "steps": training.step, "held_out": len(source.held_out)}
    figures["nats"] = chatter.nats(ids, tail) * len(tail) / len(source.held_out)
    figures["rival"] = rival_nats(source, "".join(sorted(set(source.training + source.held_out))))
    figures["seconds"] = round(before + seconds + time.monotonic() - tested, 1)
    save_figures(stage, sizes, figures)
    return chatter, figures


def _prepare(stage: Stage, source: Source) -> Chatter:
    """Return an untrained model, with a tokenizer that is trained on the text."""
    lengths = f"{len(source.training):,} characters to train on, the last {len(source.held_out):,} held out"
    stage.print(f"{source.name}: {lengths}.")
    vocab, merges = learn_tokenizer(stage, source.training, int(stage.options["entries"]))
    return Chatter(stage, vocab, merges, _arguments(stage.options, len(vocab)))


def _tokenizer_of(chatter: Chatter) -> dict[str, Any]:
    """Return what a checkpoint needs beside the weights, as lists of numbers."""
    return {
        "vocab": [list(chatter.vocabulary[id_]) for id_ in sorted(chatter.vocabulary)],
        "merges": [[list(first), list(second)] for first, second in chatter.merges],
        "arguments": chatter.arguments,
    }


def _updates(stage: Stage, chatter: Chatter, optimizer: Any, ids: list[int]) -> Callable[[int], tuple[float, int]]:
    """Return the function that makes a step on random windows: the same ones if the training is resumed."""
    accumulated_step = stage.own("ex26_optimizer").accumulated_step
    size, long = int(stage.options["batch"]), chatter.window

    def update(step: int) -> tuple[float, int]:
        draw, parts = Random(f"{stage.seed} {step}"), []
        for rows, length in ((size // 2, long), (size // 2 * SHORT, long // SHORT)):
            starts = [draw.randrange(len(ids) - length) for _ in range(rows)]
            parts.append(chatter.batch([ids[at : at + length + 1] for at in starts]))
        tokens = sum(part[:, 1:].numel() for part in parts)
        return float(accumulated_step(chatter.model, optimizer, parts, max_grad_norm=1.0)), tokens

    return update


def _samples(chatter: Chatter, source: Source) -> list[Row]:
    """Return how the model continues the first line of the held-out text, and the second one."""
    lines = [line for line in source.held_out.split("\n") if len(line.split()) > 1][:2]
    prompts = [" ".join(line.split()[:6]) for line in lines]
    return [(prompt, chatter.continued(prompt, SAMPLE, seed=1), None) for prompt in prompts]


def _report(stage: Stage, figures: Mapping[str, Any]) -> None:
    """Print known faults, then how good the model is."""
    print_faults(stage)
    own_nats, rival = float(figures["nats"]), float(figures["rival"])
    stage.print(
        f"On the {figures['held_out']:,} held-out characters: your model {bits(own_nats):.3f} bits per character, "
        f"a 5-gram model {bits(rival):.3f}."
    )
    stage.print(f"{figures['steps']:,} steps in {duration(figures['seconds'])}.")


def _continue_lines(stage: Stage, chatter: Chatter, sampling: dict[str, float]) -> None:
    """Continue typed texts; a line like `top-p 0.9` changes an option."""
    if not stage.say:
        stage.print("Type the beginning of a tale; an empty line ends. To change the sampling, type `temperature 0.5`,")
        stage.print("`top-p 0.9` or `length 200`.")
    for count, line in enumerate(stage.inputs("> ")):
        now = changed(stage, sampling, line)
        if now is not None:
            sampling = now
            continue
        written = chatter.continued(
            line,
            int(sampling["length"]),
            seed=stage.seed + count,
            temperature=sampling["temperature"],
            top_p=sampling["top-p"] if sampling["top-p"] < 1 else None,
        )
        for text in (line + written).rstrip().split("\n"):
            stage.print(text)
