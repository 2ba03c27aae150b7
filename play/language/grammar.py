"""Sentences in both languages at once. One English sentence has one translation: what English leaves open is settled.

`you` is aap, unless the sentence calls somebody who is tum or tu; `they` and `i` are masculine; `his` is `apna` where
the subject is a he; with a person or an animal as its object a verb takes ko.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from play.language.lexicon import Lexicon, Verb, agreeing, lexicon
from play.language.phrases import ALIVE, Pair, Phrase, Speaker, Words, pronoun

HAI = {"main": "hoon", "vah": "hai", "ve": "hain", "tum": "ho"}
HOGA = {"main": "hounga", "vah": "hoga", "ve": "honge", "tum": "hoge"}
BE = {"i": ("am", "was"), "he": ("is", "was"), "we": ("are", "were")}
TENSES = {
    "present": 4, "progressive": 3, "past": 5, "future": 4, "perfect": 2, "pluperfect": 1, "past_progressive": 2,
    "habitual": 1, "can": 2, "want": 2, "should": 2, "begin": 1,
}  # fmt: skip
"""The tenses and moods, and how often each of them is said."""
UNASKED = ("habitual", "begin")
"""These are said in plain statements only."""


@dataclass(frozen=True)
class Sentence:
    """One sentence in both languages, and the pairs of English words whose combination it is."""

    english: Words
    hindi: Words
    pairs: frozenset[Pair] = frozenset()


@dataclass(frozen=True)
class Target:
    """What a Hindi verb agrees with."""

    gender: str
    person: str

    @property
    def plural(self) -> bool:
        return self.person in ("ve", "tum")


_Both = tuple[Words, Words, frozenset[Pair]]
NOTHING = Target("m", "vah")
"""A verb with nothing to agree with is masculine singular."""


_CASES = ("kaun", "kisne", "kise", "kiska")
WHO = Phrase(("who",), (), ("kaun",), ("kis",), "m", "vah", "he", "", "person", cases=_CASES)
"""Who asks for somebody is masculine singular."""


def target(phrase: Phrase) -> Target:
    """Return the target that a phrase is."""
    return Target(phrase.gender, phrase.person)


def tha(of: Target) -> str:
    """Return was or were."""
    if of.gender == "m":
        return "the" if of.plural else "tha"
    return "thin" if of.plural else "thi"


def hai(tense: str, of: Target) -> str:
    """Return is, was or will be."""
    if tense == "future":
        return agreeing_future(HOGA[of.person], of.gender)
    return HAI[of.person] if tense == "present" else tha(of)


def agreeing_future(form: str, gender: str) -> str:
    """Return a future form in the gender of what it agrees with."""
    return f"{form[:-1]}i" if gender == "f" else form


def english_verb(verb: Verb, tense: str, of: str) -> tuple[str | None, Words]:
    """Return the auxiliary, None for the plain present and past, and the rest."""
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
    """Return auxiliary and rest, as a question or a negation needs them."""
    auxiliary, rest = english_verb(verb, tense, of)
    if auxiliary is not None:
        return auxiliary, rest
    do = "did" if tense == "past" else "does" if of == "he" else "do"
    return do, ("want", "to", verb.base) if tense == "want" else (verb.base,)


def _nasal(form: str, of: Target) -> str:
    """Return a perfective that ends the verb: gayi becomes gayin, as no auxiliary says that they are more than one."""
    return f"{form}n" if of.gender == "f" and of.plural else form


def hindi_verb(verb: Verb, tense: str, of: Target, doer: Target) -> Words:
    """Return the verb at the end of the sentence. `of` is what it agrees with, `doer` the subject."""
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
    """A clause before its words are put in order. `english` and `hindi` are all between subject and verb.

    `marked` says that the object has a postposition, so that the verb does not agree with it.
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
        """Whether the subject has a postposition, and the verb looks for something else to agree with."""
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
        """Return the Hindi verb with what stands right before it."""
        before = (self.verb.before,) if self.verb.before else ()
        last = hindi_verb(self.verb, self.tense, self.agrees_with(), target(self.subject))
        return (*asked, *before, *(("nahin",) if negated else ()), *last)

    def statement(self, *, negated: bool = False) -> tuple[Words, Words]:
        """Return it as a statement."""
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
        """Return it as a question: with a question word, which is `asked` in Hindi, or for yes and no."""
        auxiliary, rest = with_auxiliary(self.verb, self.tense, self.subject.of)
        english = (*word, auxiliary, *self.subject.english, *rest, *self.english, *self.time[0])
        hindi = (*self.doer, *self.time[1], *self.hindi, *self.verb_at_end(asked=asked))
        return english, hindi if word else ("kya", *hindi)


class Grammar:
    """Draws sentences."""

    def __init__(self, random: Random, words: Lexicon | None = None) -> None:
        self.words = words or lexicon()
        self.random = random
        self.speaker = Speaker(self.words, random)

    def sentence(self) -> Sentence:
        """Return a sentence, spoken to nobody in particular or to somebody it calls."""
        self.speaker.you, self.speaker.gender = "aap", "m"
        called = self._call() if self.random.random() < 0.18 else None
        kinds = tuple(_KINDS)
        kind = self.random.choices(kinds, tuple(_KINDS.values()))[0]
        made = kind(self)
        if called is None:
            return made
        return Sentence((called[0], *made.english), (*called[1].split(), *made.hindi), made.pairs)

    def _call(self) -> tuple[str, str]:
        """Call somebody, who is the `you` of the sentence."""
        english = self.random.choice(tuple(self.words.vocatives))
        hindi, you, gender = self.words.vocatives[english]
        self.speaker.you, self.speaker.gender = you, gender
        return english, hindi

    def _time(self, tense: str, often: float = 0.25) -> tuple[Words, Words]:
        if self.random.random() > often:
            return (), ()
        fitting = [each for each, (_, tenses) in self.words.times.items() if tense in tenses]
        if not fitting:
            return (), ()
        english = self.random.choice(fitting)
        return tuple(english.split()), tuple(self.words.times[english][0].split())

    def _tense(self, verb: Verb) -> str:
        """Return a tense that a verb has: nobody is forgetting, and the past of cut would be its present in English."""
        tense = self.random.choices(tuple(TENSES), tuple(TENSES.values()))[0]
        if verb.lasting:
            tense = {"progressive": "present", "past_progressive": "past"}.get(tense, tense)
        return "perfect" if tense == "past" and verb.past == verb.base else tense

    def _place(self, subject: Phrase, often: float, among: tuple[str, ...] = ("in", "near", "behind")) -> _Both:
        """Return where something happens, in both languages, and the pairs in it."""
        if self.random.random() > often:
            return (), (), frozenset()
        english = self.random.choice(among)
        phrase = self.speaker.phrase(("place",), subject)
        return *self._at(english, phrase), phrase.pairs

    def _at(self, english: str, phrase: Phrase) -> tuple[Words, Words]:
        """Return a preposition with what it stands before; what is said to be in a road is on it."""
        said = phrase.inside if english == "in" else english
        return (said, *phrase.accusative), phrase.under(self.words.postpositions[said])

    def _spoken(self, clause: Clause) -> Sentence:
        """Return a clause as a statement, a negation or a question."""
        how = self.random.random()
        if clause.tense in UNASKED or how < 0.6:
            english, hindi = clause.statement()
        elif how < 0.76:
            english, hindi = clause.statement(negated=True)
        elif how < 0.88:
            english, hindi = clause.question()
        else:
            word, asked = self.random.choice((("why", "kyon"), ("when", "kab")) if clause.time[0] == () else _WHY)
            english, hindi = clause.question((word,), (asked,))
        return Sentence(english, hindi, clause.pairs)

    def doing_something(self) -> Sentence:
        """Somebody does something to something."""
        frame = self.random.choices(("transitive", "transitive_without_ne", "with_se"), (35, 2, 3))[0]
        verb = self.random.choice(self.words.verbs_of[frame])
        tense = self._tense(verb)
        subject = self.speaker.subject(frozenset({"person"}))
        if frame == "transitive" and tense not in UNASKED and self.random.random() < 0.08:
            if self.random.random() < 0.5 and not ALIVE & verb.kinds:
                what = Clause(verb, tense, subject, marked=True, time=self._time(tense))
                return Sentence(*what.question(("what",), ("kya",)), subject.pairs)
            return self._who(verb, tense, self.speaker.phrase(verb.kinds))
        if ALIVE & verb.kinds and self.random.random() < 0.3:
            thing = self.speaker.pronoun(_others(subject))
        else:
            thing = self.speaker.phrase(verb.kinds, subject)
        alive = thing.kind in ALIVE
        hindi = thing.with_se() if frame == "with_se" else thing.dative if alive else thing.direct
        place = self._place(subject, 0.15)
        pairs = subject.pairs | thing.pairs | place[2] | ({(verb.base, thing.noun)} if thing.noun else set())
        return self._spoken(
            Clause(
                verb,
                tense,
                subject,
                (*thing.accusative, *place[0]),
                (*place[1], *hindi),
                thing,
                alive or frame == "with_se",
                self._time(tense, 0.15),
                frozenset(pairs),
            )
        )

    def _who(self, verb: Verb, tense: str, thing: Phrase) -> Sentence:
        """Ask who does something."""
        alive = thing.kind in ALIVE
        clause = Clause(verb, tense, WHO, thing.accusative, thing.dative if alive else thing.direct, thing, alive)
        pairs = thing.pairs | ({(verb.base, thing.noun)} if thing.noun else set())
        return Sentence(*clause.statement(), frozenset(pairs))

    def giving(self) -> Sentence:
        """Somebody gives something to somebody."""
        verb = self.random.choice(self.words.verbs_of["ditransitive"])
        tense = self._tense(verb)
        subject = self.speaker.subject(frozenset({"person"}))
        thing = self.speaker.phrase(verb.kinds, subject)
        known = self.random.random() < 0.4
        to = self.speaker.pronoun(_others(subject)) if known else self.speaker.phrase(("person",), subject)
        pairs = subject.pairs | thing.pairs | to.pairs | ({(verb.base, thing.noun)} if thing.noun else set())
        english, hindi = (*thing.accusative, "to", *to.accusative), (*to.dative, *thing.direct)
        return self._spoken(
            Clause(verb, tense, subject, english, hindi, thing, False, self._time(tense, 0.1), frozenset(pairs))
        )

    def acting(self) -> Sentence:
        """Somebody sleeps, or works, somewhere and with somebody."""
        frame = self.random.choices(("intransitive", "with_noun"), (2, 1))[0]
        verb = self.random.choice(self.words.verbs_of[frame])
        tense = self._tense(verb)
        subject = self.speaker.subject(verb.kinds)
        place = self._place(subject, 0.45)
        other = self.speaker.phrase(("person",), subject) if self.random.random() < 0.2 else None
        english, hindi, pairs = place[0], place[1], subject.pairs | place[2]
        if other is not None:
            english, hindi = ("with", *other.accusative, *english), (*hindi, *other.under("ke saath"))
            pairs |= other.pairs
        clause = Clause(verb, tense, subject, english, hindi, time=self._time(tense), pairs=pairs)
        if not place[0] and clause.tense not in UNASKED and self.random.random() < 0.12:
            return Sentence(*clause.question(("where",), ("kahaan",)), pairs)
        return self._spoken(clause)

    def moving(self) -> Sentence:
        """Somebody goes to a place, or comes from one."""
        verb = self.random.choice(self.words.verbs_of["motion"])
        tense = self._tense(verb)
        subject = self.speaker.subject(verb.kinds)
        clause = Clause(verb, tense, subject, time=self._time(tense), pairs=subject.pairs)
        if tense not in UNASKED and self.random.random() < 0.15:
            return Sentence(*clause.question(("where",), ("kahaan",)), clause.pairs)
        place = self.speaker.phrase(("place",), subject, one=True)
        away = self.random.random() < 0.4
        hindi = place.with_se() if away else place.goal
        english = ("from" if away else "to", *place.accusative)
        return self._spoken(
            Clause(verb, tense, subject, english, hindi, time=clause.time, pairs=subject.pairs | place.pairs)
        )

    def being(self) -> Sentence:
        """Somebody or something is tall, or as tall as another, or somewhere."""
        subject = self.speaker.subject(_ANYTHING)
        tense = self.random.choices(("present", "past", "future"), (4, 2, 1))[0]
        how = self.random.random()
        pairs = subject.pairs
        english: Words
        hindi: Words
        if how < 0.55:
            adjective = self.random.choice(self.words.adjectives_of[subject.kind])
            said = agreeing(adjective.hindi, subject.gender, plural=subject.plural)
            english, hindi = (adjective.english,), (said,)
            if self.random.random() < 0.25:
                english, hindi = ("very", *english), ("bahut", *hindi)
            elif self.random.random() < 0.3:
                other = self.speaker.phrase((subject.kind,), subject)
                as_ = agreeing("jitna", subject.gender, plural=subject.plural)
                english, hindi = ("as", *english, "as", *other.accusative), (*other.oblique, as_, said)
                pairs |= other.pairs
            if subject.noun:
                pairs |= {(adjective.english, subject.noun)}
        else:
            english, hindi, inside = self._place(subject, 1.0, ("in", "near", "behind"))
            if subject.kind in ("food", "drink", "text", "thing", "clothes") and how < 0.8:
                on = self.random.choice(("on", "under", "near"))
                thing = self.speaker.phrase(("thing",))
                english, hindi = (on, *thing.accusative), thing.under(self.words.postpositions[on])
                inside = thing.pairs
            pairs |= inside
        return self._copula(subject, tense, english, hindi, pairs)

    def _copula(self, subject: Phrase, tense: str, english: Words, hindi: Words, pairs: frozenset[Pair]) -> Sentence:
        be = "will" if tense == "future" else BE[subject.of][tense == "past"]
        rest = ("be",) if tense == "future" else ()
        last = hai(tense, target(subject))
        how = self.random.random()
        if how < 0.65:
            return Sentence((*subject.english, be, *rest, *english), (*subject.direct, *hindi, last), pairs)
        if how < 0.82:
            said = (*subject.english, be, "not", *rest, *english)
            return Sentence(said, (*subject.direct, *hindi, "nahin", last), pairs)
        return Sentence((be, *subject.english, *rest, *english), ("kya", *subject.direct, *hindi, last), pairs)

    def finding(self) -> Sentence:
        """Ask where somebody or something is, or how somebody is."""
        subject = self.speaker.subject(_ANYTHING)
        tense = self.random.choice(("present", "past"))
        word, asked = ("where", "kahaan")
        if subject.kind == "person" and self.random.random() < 0.5:
            word, asked = "how", agreeing("kaisa", subject.gender, plural=subject.plural)
        be = BE[subject.of][tense == "past"]
        hindi = (*subject.direct, asked, hai(tense, target(subject)))
        return Sentence((word, be, *subject.english), hindi, subject.pairs)

    def liking(self) -> Sentence:
        """Somebody likes, wants, or has something: in Hindi it is to him."""
        subject = self.speaker.subject(frozenset({"person"}))
        tense = self.random.choice(("present", "past"))
        thing = self.speaker.phrase(_THINGS, subject)
        pairs = subject.pairs | thing.pairs
        third = subject.of == "he"
        which = self.random.choice(("like", "have", "need"))
        base, forms = which, {"like": ("likes", "liked"), "have": ("has", "had"), "need": ("needs", "needed")}[which]
        said = forms[1] if tense == "past" else forms[0] if third else base
        how: Words = ()
        if which == "have":
            who = subject.under("ke paas")
        else:
            who, how = subject.dative, ("pasand",) if which == "like" else ("chaahiye",)
        last = () if which == "need" and tense == "present" else (hai(tense, target(thing)),)
        negated, asked = self.random.random() < 0.2, self.random.random() < 0.2
        do = "did" if tense == "past" else "does" if third else "do"
        if asked:
            english = (do, *subject.english, base, *thing.accusative)
            return Sentence(english, ("kya", *who, *thing.direct, *how, *last), pairs)
        if negated:
            english = (*subject.english, do, "not", base, *thing.accusative)
            how = ("nahin", *how) if which == "need" else (*how, "nahin")
            return Sentence(english, (*who, *thing.direct, *how, *last), pairs)
        return Sentence((*subject.english, said, *thing.accusative), (*who, *thing.direct, *how, *last), pairs)

    def asking_for(self) -> Sentence:
        """Tell somebody to do something, or not to."""
        you = pronoun("you", self.speaker.you, self.speaker.gender)
        frames = {"transitive": 8, "intransitive": 2, "motion": 3, "ditransitive": 3, "with_noun": 2}
        frame = self.random.choices(tuple(frames), tuple(frames.values()))[0]
        verb = self.random.choice(self.words.verbs_of[frame])
        english: Words = ()
        hindi: Words = ()
        pairs: frozenset[Pair] = frozenset()
        if frame in ("transitive", "ditransitive"):
            thing = self.speaker.phrase(verb.kinds, you)
            english, hindi = thing.accusative, thing.dative if thing.kind in ALIVE else thing.direct
            pairs = thing.pairs | ({(verb.base, thing.noun)} if thing.noun else set())
        if frame == "ditransitive":
            to = self.speaker.pronoun(("i", "he", "she", "we", "they"))
            english, hindi = (*english, "to", *to.accusative), (*to.dative, *hindi)
        if frame == "motion":
            place = self.speaker.phrase(("place",), you, one=True)
            english, hindi, pairs = ("to", *place.accusative), place.goal, place.pairs
        if frame in ("intransitive", "with_noun"):
            english, hindi, pairs = self._place(you, 0.7)
        before = (verb.before,) if verb.before else ()
        how = self.random.random()
        not_ = how < 0.25
        start: Words = ("do", "not") if not_ else ("please",) if how < 0.5 and self.speaker.you != "tu" else ()
        kripya = ("kripya",) if start == ("please",) else ()
        last = (*before, *(("mat",) if not_ else ()), verb.imperative(self.speaker.you))
        return Sentence((*start, verb.base, *english), (*kripya, *hindi, *last), pairs)

    def being_there(self) -> Sentence:
        """Something is somewhere: there is a book on the table."""
        thing = self.speaker.phrase(_THINGS, how=("a", "number", "bare"))
        tense = self.random.choices(("present", "past"), (2, 1))[0]
        where = self.random.choice(("on", "under", "in", "near"))
        place = self.speaker.phrase(("thing",) if where in ("on", "under") else ("place",))
        english, hindi = self._at(where, place)
        pairs = thing.pairs | place.pairs
        be = BE[thing.of][tense == "past"]
        last = (*thing.direct, hai(tense, target(thing)))
        return Sentence(("there", be, *thing.accusative, *english), (*hindi, *last), pairs)


def _others(subject: Phrase) -> list[str]:
    """Return the pronouns that are somebody else than the subject; i is one of we."""
    same = {"i": ("i", "we"), "we": ("i", "we")}.get(subject.english[0], subject.english[:1])
    return [each for each in ("i", "you", "he", "she", "we", "they") if each not in same]


_WHY = (("why", "kyon"),)
_THINGS = frozenset({"food", "drink", "text", "thing", "clothes"})
_ANYTHING = _THINGS | {"person", "animal", "place"}
_KINDS: dict[Callable[[Grammar], Sentence], int] = {
    Grammar.doing_something: 32,
    Grammar.giving: 8,
    Grammar.acting: 14,
    Grammar.moving: 10,
    Grammar.being: 14,
    Grammar.finding: 4,
    Grammar.liking: 9,
    Grammar.asking_for: 8,
    Grammar.being_there: 4,
}
