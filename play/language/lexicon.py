"""The words of lexicon.toml, and their inflections."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("lexicon.toml")
FRAMES = ("transitive", "transitive_without_ne", "with_se", "ditransitive", "intransitive", "motion", "with_noun")
"""The frames of verbs: what goes with them."""


@dataclass(frozen=True)
class Noun:
    """A noun. `many` is None if it has no plural; `esteemed` nouns take the plural of respect.

    `inside` is `in`, or `on` for places like a road; `to` is the postposition of a destination, mostly none.
    """

    one: str
    many: str | None
    hindi: str
    gender: str
    kind: str
    fixed: bool
    esteemed: bool
    plurals: tuple[str, str] | None
    inside: str
    to: str

    def form(self, *, plural: bool, oblique: bool) -> str:
        """Return the Hindi form of a number and a case."""
        if not plural:
            changes = self.gender == "m" and self.hindi.endswith("a") and not self.fixed
            return f"{self.hindi[:-1]}e" if oblique and changes else self.hindi
        return self._plurals[oblique]

    @property
    def _plurals(self) -> tuple[str, str]:
        if self.plurals:
            return self.plurals
        word, stem = self.hindi, self.hindi[:-1]
        if self.gender == "m":
            if word.endswith("a") and not self.fixed:
                return f"{stem}e", f"{stem}on"
            return word, f"{word}yon" if word.endswith("i") else f"{word}on"
        if word.endswith("iya"):
            return f"{word}n", f"{stem}on"
        return (f"{word}yaan", f"{word}yon") if word.endswith("i") else (f"{word}en", f"{word}on")


@dataclass(frozen=True)
class Adjective:
    """An adjective, and the kinds of nouns it fits."""

    english: str
    hindi: str
    kinds: frozenset[str]


@dataclass(frozen=True)
class Verb:
    """A verb. `before` is a word before the Hindi stem; `noun` is the gender of that word if the verb agrees with it.

    `frame` is its list in lexicon.toml. `kinds` are its objects, or its subjects if it has no object. A `lasting` verb
    has no progressive.
    """

    base: str
    third: str
    past: str
    participle: str
    ing: str
    stem: str
    before: str | None
    noun: str | None
    frame: str
    kinds: frozenset[str]
    irregular: tuple[str, ...] | None
    lasting: bool

    @property
    def ergative(self) -> bool:
        """Whether its subject takes ne in the perfective."""
        return self.frame in ("transitive", "ditransitive", "with_noun")

    def perfective(self, gender: str, *, plural: bool) -> str:
        """Return dekha, dekhe or dekhi."""
        at = 2 if gender == "f" else int(plural)
        if self.irregular:
            return self.irregular[at]
        glide = "y" if self.stem[-1] in "aeo" else ""
        return f"{self.stem}{glide}{('a', 'e', 'i')[at]}"

    def imperative(self, you: str) -> str:
        """Return the imperative for aap, tum or tu."""
        if you == "tu":
            return self.stem
        if self.irregular:
            return self.irregular[3 if you == "aap" else 4]
        return f"{self.stem}{'iye' if you == 'aap' else 'o'}"

    def future(self, person: str, gender: str) -> str:
        """Return the future of a person: dekhunga, dekhega, dekhenge or dekhoge."""
        at = {"main": 0, "vah": 1, "ve": 2, "tum": 3}[person]
        if self.irregular:
            form = self.irregular[5 + at]
        else:
            glide = "y" if self.stem[-1] in "aeo" and at in (1, 2) else ""
            form = f"{self.stem}{glide}{('unga', 'ega', 'enge', 'oge')[at]}"
        return f"{form[:-1]}i" if gender == "f" else form


@dataclass(frozen=True, eq=False)
class Lexicon:
    """All words."""

    nouns: tuple[Noun, ...]
    adjectives: tuple[Adjective, ...]
    verbs: tuple[Verb, ...]
    vocatives: Mapping[str, tuple[str, str, str]]
    postpositions: Mapping[str, str]
    numbers: Mapping[str, str]
    times: Mapping[str, tuple[str, frozenset[str]]]
    phrases: Mapping[str, str]

    @cached_property
    def nouns_of(self) -> Mapping[str, tuple[Noun, ...]]:
        """The nouns of each kind."""
        kinds = sorted({noun.kind for noun in self.nouns})
        return {kind: tuple(noun for noun in self.nouns if noun.kind == kind) for kind in kinds}

    @cached_property
    def adjectives_of(self) -> Mapping[str, tuple[Adjective, ...]]:
        """The adjectives of each kind of noun."""
        return {kind: tuple(word for word in self.adjectives if kind in word.kinds) for kind in self.nouns_of}

    @cached_property
    def verbs_of(self) -> Mapping[str, tuple[Verb, ...]]:
        """The verbs of each frame."""
        return {frame: tuple(verb for verb in self.verbs if verb.frame == frame) for frame in FRAMES}

    @cached_property
    def owners(self) -> tuple[Noun, ...]:
        """The nouns that may own something: people without the plural of respect."""
        return tuple(noun for noun in self.nouns_of["person"] if not noun.esteemed)


def agreeing(word: str, gender: str, *, plural: bool = False, oblique: bool = False) -> str:
    """Inflect an adjective, or a word like one: bada, bade or badi."""
    if not word.endswith("a"):
        return word
    return f"{word[:-1]}{'i' if gender == 'f' else 'e' if plural or oblique else 'a'}"


@cache
def lexicon() -> Lexicon:
    """Read the words, once."""
    data: dict[str, Any] = tomllib.loads(FILE.read_text("utf-8"))
    return Lexicon(
        nouns=tuple(_noun(line, data["irregular_nouns"]) for line in data["nouns"]),
        adjectives=tuple(_adjective(line) for line in data["adjectives"]),
        verbs=tuple(_verb(line, frame, data["irregular_verbs"]) for frame in FRAMES for line in data[frame]),
        vocatives={english: (hindi, you, gender) for english, (hindi, you, gender) in data["vocatives"].items()},
        postpositions=data["postpositions"],
        numbers=data["numbers"],
        times={english: (hindi, frozenset(tenses.split())) for english, (hindi, tenses) in data["times"].items()},
        phrases=data["phrases"],
    )


def _noun(line: str, irregular: Mapping[str, list[str]]) -> Noun:
    one, many, hindi, gender, kind, *marks = line.split()
    direct, oblique = irregular.get(hindi, (None, None))
    plurals = (direct, oblique) if direct and oblique else None
    return Noun(
        one=one,
        many=None if many == "-" else many,
        hindi=hindi,
        gender=gender,
        kind=kind,
        fixed="fixed" in marks,
        esteemed="esteemed" in marks,
        plurals=plurals,
        inside="on" if "on" in marks else "in",
        to=next((mark.removeprefix("to=") for mark in marks if mark.startswith("to=")), ""),
    )


def _adjective(line: str) -> Adjective:
    english, hindi, kinds = line.split()
    every = "person/animal/food/drink/text/thing/clothes/place"
    return Adjective(english, hindi, frozenset((every if kinds == "any" else kinds).split("/")))


def _verb(line: str, frame: str, irregular: Mapping[str, list[str]]) -> Verb:
    base, third, past, participle, ing, hindi, last, *marks = line.split()
    before, _, stem = hindi.rpartition("+")
    noun, kinds = None, last
    if frame == "with_noun":
        before, stem, noun, kinds = hindi, "kar", last, "person"
    forms = tuple(irregular[stem]) if stem in irregular else None
    return Verb(
        base=base,
        third=third,
        past=past,
        participle=participle,
        ing=ing,
        stem=stem,
        before=before or None,
        noun=noun,
        frame=frame,
        kinds=frozenset(kinds.split("/")),
        irregular=forms,
        lasting="lasting" in marks,
    )
