"""Clauses in both languages: tenses, what a Hindi verb agrees with, and the order of the words."""

from dataclasses import dataclass

from play.language.lexicon import Verb, agreeing
from play.language.phrases import Pair, Phrase, Words

HAI = {"main": "hoon", "vah": "hai", "ve": "hain", "tum": "ho"}
HOGA = {"main": "hounga", "vah": "hoga", "ve": "honge", "tum": "hoge"}
BE = {"i": ("am", "was"), "he": ("is", "was"), "we": ("are", "were")}
TENSES = {
    "present": 4, "progressive": 3, "past": 5, "future": 4, "perfect": 2, "pluperfect": 1, "past_progressive": 2,
    "habitual": 1, "can": 2, "want": 2, "should": 2, "begin": 1,
}  # fmt: skip
"""The tenses and moods, with their weights."""
UNASKED = ("habitual", "begin")
"""These occur in plain statements only."""


@dataclass(frozen=True)
class Sentence:
    """A sentence in both languages, and the pairs of English words that it combines."""

    english: Words
    hindi: Words
    pairs: frozenset[Pair] = frozenset()


@dataclass(frozen=True)
class Target:
    """The gender and person that a Hindi verb agrees with."""

    gender: str
    person: str

    @property
    def plural(self) -> bool:
        return self.person in ("ve", "tum")


NOTHING = Target("m", "vah")
"""A verb with nothing to agree with is masculine singular."""


_CASES = ("kaun", "kisne", "kise", "kiska")
WHO = Phrase(("who",), (), ("kaun",), ("kis",), "m", "vah", "he", "", "person", cases=_CASES)
"""The question word is masculine singular."""


def target(phrase: Phrase) -> Target:
    """Return what a verb agrees with if it agrees with a phrase."""
    return Target(phrase.gender, phrase.person)


def tha(of: Target) -> str:
    """Return the Hindi for `was` or `were`."""
    if of.gender == "m":
        return "the" if of.plural else "tha"
    return "thin" if of.plural else "thi"


def hai(tense: str, of: Target) -> str:
    """Return the Hindi for `is`, `was` or `will be`."""
    if tense == "future":
        return agreeing_future(HOGA[of.person], of.gender)
    return HAI[of.person] if tense == "present" else tha(of)


def agreeing_future(form: str, gender: str) -> str:
    """Return a future form in a gender."""
    return f"{form[:-1]}i" if gender == "f" else form


def english_verb(verb: Verb, tense: str, of: str) -> tuple[str | None, Words]:
    """Return the auxiliary, None for the plain present and past, and the other words."""
    third = of == "he"
    be, was = BE[of]
    return {
        "present": (None, (verb.third if third else verb.base,)),
        "past": (None, (verb.past,)),
        "progressive": (be, (verb.ing,)),
        "past_progressive": (was, (verb.ing,)),
        "future": ("will", (verb.base,)),
        "perfect": ("has" if third else "have", (verb.participle,)),
        "pluperfect": ("had", (verb.participle,)),
        "habitual": (None, ("used", "to", verb.base)),
        "can": ("can", (verb.base,)),
        "want": (None, ("wants" if third else "want", "to", verb.base)),
        "should": ("should", (verb.base,)),
        "begin": (None, ("began", "to", verb.base)),
    }[tense]


def with_auxiliary(verb: Verb, tense: str, of: str) -> tuple[str, Words]:
    """Return auxiliary and other words for a question or a negation: these always have one."""
    auxiliary, rest = english_verb(verb, tense, of)
    if auxiliary is not None:
        return auxiliary, rest
    do = "did" if tense == "past" else "does" if of == "he" else "do"
    return do, ("want", "to", verb.base) if tense == "want" else (verb.base,)


def _nasal(form: str, of: Target) -> str:
    """Return a perfective without an auxiliary: gayi becomes gayin, because nothing else marks the plural."""
    return f"{form}n" if of.gender == "f" and of.plural else form


def hindi_verb(verb: Verb, tense: str, of: Target, doer: Target) -> Words:
    """Return the verb at the end of the sentence; it agrees with `of`, and `doer` is the subject."""
    match tense:
        case "past":
            done = verb.perfective(of.gender, plural=of.plural)
            return (_nasal(done, of),)
        case "perfect" | "pluperfect":
            done = verb.perfective(of.gender, plural=of.plural)
            return done, HAI[of.person] if tense == "perfect" else tha(of)
        case "future":
            return (verb.future(of.person, of.gender),)
        case "want":
            return f"{verb.stem}na", agreeing("chaahta", doer.gender, plural=doer.plural), HAI[doer.person]
        case "should":
            return agreeing(f"{verb.stem}na", of.gender, plural=of.plural), "chaahiye"
        case "begin":
            return f"{verb.stem}ne", _nasal(agreeing("laga", of.gender, plural=of.plural), of)
        case "can":
            return verb.stem, agreeing("sakta", of.gender, plural=of.plural), HAI[of.person]
        case "progressive" | "past_progressive":
            last = HAI[of.person] if tense == "progressive" else tha(of)
            return verb.stem, agreeing("raha", of.gender, plural=of.plural), last
        case _:  # present, habitual
            last = HAI[of.person] if tense == "present" else tha(of)
            return agreeing(f"{verb.stem}ta", of.gender, plural=of.plural), last


@dataclass(frozen=True)
class Clause:
    """A clause before its words are in order. `english` and `hindi` are the words between subject and verb.

    `marked` says that the object has a postposition, so the verb does not agree with it.
    """

    verb: Verb
    tense: str
    subject: Phrase
    english: Words = ()
    hindi: Words = ()
    object: Phrase | None = None
    marked: bool = False
    time: tuple[Words, Words] = ((), ())
    pairs: frozenset[Pair] = frozenset()

    @property
    def _of_object(self) -> bool:
        """Whether the subject has a postposition, so the verb does not agree with it."""
        perfective = self.tense in ("past", "perfect", "pluperfect")
        return self.tense == "should" or (perfective and self.verb.ergative)

    @property
    def doer(self) -> Words:
        """The Hindi subject in its case."""
        if not self._of_object:
            return self.subject.direct
        return self.subject.dative if self.tense == "should" else self.subject.ergative

    def agrees_with(self) -> Target:
        """Return what the Hindi verb agrees with."""
        if not self._of_object:
            return target(self.subject)
        if self.object is not None and not self.marked:
            return target(self.object)
        return Target(self.verb.noun, "vah") if self.verb.noun else NOTHING

    def verb_at_end(self, *, negated: bool = False, asked: Words = ()) -> Words:
        """Return the Hindi verb with the words right before it."""
        before = (self.verb.before,) if self.verb.before else ()
        last = hindi_verb(self.verb, self.tense, self.agrees_with(), target(self.subject))
        return (*asked, *before, *(("nahin",) if negated else ()), *last)

    def statement(self, *, negated: bool = False) -> tuple[Words, Words]:
        """Return the clause as a statement."""
        english: Words = (*self.subject.english,)
        if negated:
            auxiliary, rest = with_auxiliary(self.verb, self.tense, self.subject.of)
            english = (*english, auxiliary, "not", *rest)
        else:
            plain, rest = english_verb(self.verb, self.tense, self.subject.of)
            english = (*english, *((plain,) if plain else ()), *rest)
        hindi = (*self.doer, *self.time[1], *self.hindi, *self.verb_at_end(negated=negated))
        return (*english, *self.english, *self.time[0]), hindi

    def question(self, word: Words = (), asked: Words = ()) -> tuple[Words, Words]:
        """Return the clause as a question: with a question word, `asked` in Hindi, or for yes and no."""
        auxiliary, rest = with_auxiliary(self.verb, self.tense, self.subject.of)
        english = (*word, auxiliary, *self.subject.english, *rest, *self.english, *self.time[0])
        hindi = (*self.doer, *self.time[1], *self.hindi, *self.verb_at_end(asked=asked))
        return english, hindi if word else ("kya", *hindi)
