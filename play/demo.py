"""Show what the course builds: two small trained models, with the learner's own parts in them as far as these pass.

    python -m play.demo

trains both models again with the reference solution, which takes minutes, and writes their files.
"""

import importlib
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from autograder.checks import Given
from autograder.course import numbers_of
from autograder.play import Stage
from autograder.report import Page, glyphs_for
from play import attention
from play.attention import Heads, strongest, translator_attention
from play.chatter import BLANK, END, Chatter
from play.language.corpus import Example, corpus
from play.language.phrases import Words
from play.look import show_heads
from play.model_file import from_bytes, in_bytes
from play.pieces import Pieces
from play.rival import bits
from play.text import read_tales
from play.translate import MOST, Translator, parse_line, parse_words

TRANSFORMER, LLAMA = (Path(__file__).parent / "weights" / f"{name}.npz" for name in ("translate", "chat"))

SENTENCES = ("my sister bought a red shirt", "do not forget the old key", "where did you see my brother")
"""The first one is looked into, too."""

TALE = "Mira and the blue lamp"
LENGTH = 110
"""The tokens of the tale."""

CLEAR = 0.8
"""Only a word that attends so much to another one is an example."""

SOS, EOS = "<SOS>", "<EOS>"


class Speaker(Translator):
    """The trained Transformer. Without exercise 14 among `own`, a loop of the demo chooses the words."""

    def __init__(self, stage: Stage, own: Collection[str]) -> None:
        parameters, about = from_bytes(TRANSFORMER.read_bytes())
        self.stage, self.sizes, self.own = stage, about["sizes"], own
        self.english, self.hindi = ({word: at for at, word in enumerate(about[name])} for name in ("english", "hindi"))
        self.right, self.asked = about["right"], about["asked"]
        self.model = _filled(stage, self.new_model(), parameters)

    def encoded(self, examples: Iterable[Example]) -> list[tuple[list[int], list[int]]]:
        """Return examples as ids."""
        return [(_ids(english, self.english), _ids(hindi, self.hindi)) for english, hindi in examples]

    def padded(self, pairs: Sequence[tuple[list[int], list[int]]]) -> tuple[Tensor, Tensor]:
        """Return source (1, S) and target (1, T) of one pair, which needs no padding."""
        [pair] = pairs
        source, target = (torch.tensor([ids], device=self.stage.device) for ids in pair)
        return source, target

    def translated(self, sentences: Sequence[Words]) -> list[Words]:
        """Return greedy translations of English sentences."""
        return [self._translated(words) for words in sentences]

    @torch.no_grad()
    def _translated(self, words: Words) -> Words:
        source, _ = self.padded(self.encoded([(words, ())]))
        if "ex14_generation" in self.own:
            ids = self.stage.own("ex14_generation").greedy_translate(self.model, source, MOST)[0].tolist()
        else:
            ids = [self.hindi[SOS]]
            while len(ids) < MOST and ids[-1] != self.hindi[EOS]:
                ids.append(_likeliest(self.model(source, torch.tensor([ids], device=self.stage.device))))
        names = list(self.hindi)
        return tuple(names[at] for at in ids if names[at] not in (SOS, EOS))


class Teller(Chatter):
    """The trained modern model, with the pieces of its tokenizer. Without exercise 20 among `own`, it has no cache."""

    def __init__(self, stage: Stage, own: Collection[str]) -> None:
        parameters, about = from_bytes(LLAMA.read_bytes())
        self.stage, self.arguments, self.own = stage, about["arguments"], own
        self.vocabulary = {at: bytes(entry) for at, entry in enumerate(about["vocab"])}
        self.merges = [(bytes(first), bytes(second)) for first, second in about["merges"]]
        self.window, self.bits = int(self.arguments["context_length"]), about["bits"]
        known = {entry: at for at, entry in self.vocabulary.items()}
        self.end = known[END.encode()]
        pieces = Pieces(map(chr, range(256)), [(_letters(first), _letters(second)) for first, second in self.merges])
        self._word = cache(
            lambda word: tuple(known[piece.encode("latin-1")] for piece in pieces.pieces_of(_letters(word.encode())))
        )
        self.model = _filled(stage, self.new_model(), parameters)

    def text(self, ids: Sequence[int]) -> str:
        """Return ids as a text."""
        return b"".join(self.vocabulary[id_] for id_ in ids).decode("utf-8", "replace").replace(END, BLANK)

    def generated(self, start: Tensor, length: int, **options: Any) -> Tensor:
        """Return the likeliest tokens after a text."""
        if "ex20_kv_cache" in self.own:
            return super().generated(start, length, **{**options, "temperature": 0.0})
        ids = start[0].tolist()
        with torch.no_grad():
            for _ in range(length):
                ids.append(_likeliest(self.model(self.batch([ids]))))
                if ids[-1] == self.end:
                    break
        return self.batch([ids])


def _ids(words: Words, vocabulary: Mapping[str, int]) -> list[int]:
    return [vocabulary[word] for word in (SOS, *words, EOS)]


def _likeliest(logits: Tensor) -> int:
    """Return the id with the largest logit at the last place of one text (1, T, V)."""
    return int(logits[0, -1].argmax())


def _letters(data: bytes) -> str:
    """Return bytes as a text with a character for each, as `Pieces` needs them."""
    return data.decode("latin-1")


def _filled(stage: Stage, model: nn.Module, parameters: Mapping[str, Tensor]) -> nn.Module:
    """Load trained weights as a check does: by the names of the contract, or by `from_reference` of a class."""
    return Given(stage.seed, {}, stage.device).fill(model, parameters)


@dataclass(frozen=True)
class Models:
    """Both models, with what they make of the sentences and of the tale."""

    speaker: Speaker
    teller: Teller
    translations: tuple[str, ...]
    tale: str


def build(stage: Stage, own: Collection[str]) -> Models:
    """Return the models with these exercises of the learner's, and reference parts for all others."""
    stage.use(own)
    speaker, teller = Speaker(stage, own), Teller(stage, own)
    translations = speaker.translated([parse_words(sentence) for sentence in SENTENCES])
    tale = teller.continued(TALE, LENGTH, seed=1)
    return Models(speaker, teller, tuple(map(" ".join, translations)), tale[: tale.rfind(".") + 1])


def play(stage: Stage) -> dict[str, Any]:
    """Translate, tell a tale and show the attention of one head; then translate typed sentences."""
    torch.set_num_threads(1)  # the models are small: more threads only wait for each other
    models = reference = build(stage, ())
    own = list(stage.passing)
    if own:
        wrong = dict(_faults(stage, reference))
        for exercise, message in wrong.items():
            stage.report_fault(exercise, message)
        own = [exercise for exercise in own if exercise not in wrong]
        models = build(stage, own)
    _introduce(stage, own)
    _show_translations(stage, models)
    _show_tale(stage, models)
    _show_attention(stage, models.speaker)
    if not stage.say:
        stage.print("Now you: type a sentence in English; an empty line ends.")
    for line in stage.inputs("> "):
        if words := parse_line(stage, models.speaker, line):
            stage.print(" ".join(models.speaker.translated([words])[0]))
    return {"own": own, "translations": dict(zip(SENTENCES, models.translations, strict=True)), "tale": models.tale}


def _faults(stage: Stage, reference: Models) -> Iterator[tuple[str, str]]:
    """Yield the learner's exercises with which a model gives another result, each with a sentence."""
    if not (message := _difference(stage, stage.passing, reference)):
        return
    alone = [(exercise, _difference(stage, [exercise], reference)) for exercise in stage.passing]
    found = [(exercise, difference) for exercise, difference in alone if difference]
    yield from found or [(stage.passing[-1], f"{message} (only together with your other parts)")]


def _difference(stage: Stage, own: Collection[str], reference: Models) -> str:
    """Return how the results with parts of the learner's differ from those of the reference; "" if they do not."""
    try:
        models = build(stage, own)
    except Exception as error:  # whatever the learner's code raises
        reason = (str(error).splitlines() or [""])[0][:120]
        return f"inside the trained model, your code raised {type(error).__name__}: {reason}"
    for sentence, mine, expected in zip(SENTENCES, models.translations, reference.translations, strict=True):
        if mine != expected:
            return f"with your part, the trained model translates `{sentence}` as `{mine}`, expected `{expected}`"
    return "" if models.tale == reference.tale else "with your part, the trained model tells another tale"


def _introduce(stage: Stage, own: Sequence[str]) -> None:
    stage.print("What you will build: two small models, here already trained.", "bold")
    stage.print("They were trained with the reference solution, not with your code.")
    if own:
        exercises = numbers_of([stage.course.exercise(exercise) for exercise in own])
        stage.print(f"Your own code runs in them now: {exercises}. The reference does the rest.", "green")
        stage.print("Every result is the same as with the reference alone.")
    else:
        stage.print("No part of them is yours yet. Each exercise that you pass takes its place here.")


def _show_translations(stage: Stage, models: Models) -> None:
    stage.print("")
    stage.print("A Transformer translates English to Hindi (exercises 01 to 14).", "bold")
    stage.print(f"It gets {models.speaker.right} of {models.speaker.asked} sentences right that it has never seen.")
    for sentence, translation in zip(SENTENCES, models.translations, strict=True):
        stage.print(f"  {sentence} -> {translation}")


def _show_tale(stage: Stage, models: Models) -> None:
    stage.print("")
    stage.print("A small Llama tells a tale (exercises 15 to 26). Only its title is given:", "bold")
    for line in f"{TALE}{models.tale}".split("\n"):
        stage.print(line)


def _show_attention(stage: Stage, speaker: Speaker) -> None:
    """Show the clearest head between the two languages, and say what to see in it."""
    sentence = translator_attention(stage, speaker, parse_words(SENTENCES[0]))
    crossed = [block for block in sentence.blocks if block.title.endswith("cross-attention")]
    block, head = max(((block, at) for block in crossed for at in range(len(block.weights))), key=_clarity)
    stage.print("")
    stage.print(f"Attention: {sentence.text} -> {sentence.answer}", "bold")
    show_heads(stage, Page.on(stage.console, glyphs_for(stage.console.encoding)), block, [head])
    found = []
    for at, (query, row) in enumerate(zip(block.queries, block.weights[head], strict=True)):
        key, weight = strongest(block.keys, row)
        if weight >= CLEAR and not {query, key} & {attention.START, attention.END}:
            found.append((abs(block.keys.index(key) - 1 - at), f"`{query}` at `{key}` ({weight:.0%})"))
    found.sort(key=lambda pair: -pair[0])  # first those that change their place in the sentence
    examples = ", ".join(example for _, example in found[:3])
    stage.print(f"Before it writes a Hindi word, this head looks at the English word that it needs: {examples}.")
    stage.print("It learned from pairs of sentences alone which words belong together.")


def _clarity(found: tuple[Heads, int]) -> float:
    """Return how much the words of a translation look at one word each, which is neither start nor end."""
    block, head = found
    rows = [row[1:-1] for row in block.weights[head]]
    return sum(map(max, rows)) / len(rows)


# Train both models again, with the reference solution.


def train(root: Path) -> None:
    """Train as `course play` does, write the weights in 8 bits, and print the figures that they still have."""
    course = [sys.executable, "-m", "autograder", "play"]
    for activity, more in (("translate", ["--steps", "3200"]), ("chat", [])):
        options = ["--submission", "solutions", "--fresh", "--say", "hello", *more]
        subprocess.run([*course, activity, *options], cwd=root, check=True)
    sys.path.insert(0, str(root / "solutions"))
    stage: Any = SimpleNamespace(own=importlib.import_module, seed=1, device="cpu")
    kept = [
        torch.load(root / ".course" / "play" / f"{name}-solutions.pt", weights_only=True)["data"]
        for name in ("translate", "chat")
    ]
    TRANSFORMER.parent.mkdir(exist_ok=True)
    TRANSFORMER.write_bytes(_transformer(stage, kept[0]))
    LLAMA.write_bytes(_llama(stage, kept[1]))
    print(f"{TRANSFORMER.stat().st_size:,} and {LLAMA.stat().st_size:,} bytes")


def _transformer(stage: Any, kept: Mapping[str, Any]) -> bytes:
    translator = Translator(stage, kept["english"], kept["hindi"], kept["options"])
    parameters = _rounded(translator.model, kept["model"])
    words = corpus(stage.seed, int(kept["options"]["sentences"]), 500)
    about: dict[str, Any] = {"sizes": kept["options"], "english": [*translator.english], "hindi": [*translator.hindi]}
    about |= {"right": translator.exact(words.unseen), "asked": len(words.unseen)}
    print(f"{about['right']} and {translator.exact(words.combined)} of {about['asked']} sentences are right")
    return in_bytes(parameters, about)


def _llama(stage: Any, kept: Mapping[str, Any]) -> bytes:
    vocab = {id_: bytes(entry) for id_, entry in enumerate(kept["vocab"])}
    merges = [(bytes(first), bytes(second)) for first, second in kept["merges"]]
    chatter = Chatter(stage, vocab, merges, kept["arguments"])
    parameters = _rounded(chatter.model, kept["model"])
    source = read_tales(600_000)
    tail = chatter.ids(source.held_out)
    nats = chatter.nats(chatter.ids(source.training), tail) * len(tail) / len(source.held_out)
    print(f"{bits(nats):.3f} bits per character")
    return in_bytes(parameters, {**{name: kept[name] for name in ("vocab", "merges", "arguments")}, "bits": bits(nats)})


def _rounded(model: nn.Module, state: Mapping[str, Tensor]) -> list[tuple[str, Tensor]]:
    """Load weights into a model, and return its parameters; the model computes with their rounded values."""
    model.load_state_dict(state)
    parameters = [(name, parameter.detach().clone()) for name, parameter in model.named_parameters()]
    model.load_state_dict(from_bytes(in_bytes(parameters, {}))[0], strict=False)
    return parameters


if __name__ == "__main__":
    train(Path(__file__).parents[1])
