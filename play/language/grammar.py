"""Draw sentences in both languages at once. Each English sentence has exactly one translation.

So these rules decide what English leaves open: `you` is aap, unless the sentence calls somebody who is tum or tu;
`they` and `i` are masculine; `his` is `apna` if the subject is `he`; a person or an animal as object takes ko.
"""

from collections.abc import Callable
from random import Random

from play.language.clauses import BE, TENSES, UNASKED, WHO, Clause, Sentence, hai, target
from play.language.lexicon import Lexicon, Verb, agreeing, lexicon
from play.language.phrases import ALIVE, Pair, Phrase, Speaker, Words, pronoun

PlaceWords = tuple[Words, Words, frozenset[Pair]]
"""A place in English and in Hindi, and the pairs in it."""


class Grammar:
    """Draws sentences."""

    def __init__(self, random: Random, words: Lexicon | None = None) -> None:
        self.words = words or lexicon()
        self.random = random
        self.speaker = Speaker(self.words, random)

    def sentence(self) -> Sentence:
        """Return a sentence; some of them call somebody first."""
        self.speaker.you, self.speaker.gender = "aap", "m"
        called = self._call() if self.random.random() < 0.18 else None
        kinds = tuple(_KINDS)
        kind = self.random.choices(kinds, tuple(_KINDS.values()))[0]
        made = kind(self)
        if called is None:
            return made
        return Sentence((called[0], *made.english), (*called[1].split(), *made.hindi), made.pairs)

    def _call(self) -> tuple[str, str]:
        """Call somebody, who becomes the `you` of the sentence."""
        english = self.random.choice(tuple(self.words.vocatives))
        hindi, you, gender = self.words.vocatives[english]
        self.speaker.you, self.speaker.gender = you, gender
        return english, hindi

    def _time(self, tense: str, often: float = 0.25) -> tuple[Words, Words]:
        if self.random.random() > often:
            return (), ()
        fitting = [time for time, (_, tenses) in self.words.times.items() if tense in tenses]
        if not fitting:
            return (), ()
        english = self.random.choice(fitting)
        return tuple(english.split()), tuple(self.words.times[english][0].split())

    def _tense(self, verb: Verb) -> str:
        """Return a tense that fits a verb: `forget` has no progressive, the past of `cut` looks like its present."""
        tense = self.random.choices(tuple(TENSES), tuple(TENSES.values()))[0]
        if verb.lasting:
            tense = {"progressive": "present", "past_progressive": "past"}.get(tense, tense)
        return "perfect" if tense == "past" and verb.past == verb.base else tense

    def _place(self, subject: Phrase, often: float, among: tuple[str, ...] = ("in", "near", "behind")) -> PlaceWords:
        """Return a place in both languages, and the pairs in it."""
        if self.random.random() > often:
            return (), (), frozenset()
        english = self.random.choice(among)
        phrase = self.speaker.phrase(("place",), subject)
        return *self._at(english, phrase), phrase.pairs

    def _at(self, english: str, phrase: Phrase) -> tuple[Words, Words]:
        """Return a preposition with its phrase; `in` becomes `on` for a road."""
        form = phrase.inside if english == "in" else english
        return (form, *phrase.accusative), phrase.under(self.words.postpositions[form])

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
            form = agreeing(adjective.hindi, subject.gender, plural=subject.plural)
            english, hindi = (adjective.english,), (form,)
            if self.random.random() < 0.25:
                english, hindi = ("very", *english), ("bahut", *hindi)
            elif self.random.random() < 0.3:
                other = self.speaker.phrase((subject.kind,), subject)
                as_ = agreeing("jitna", subject.gender, plural=subject.plural)
                english, hindi = ("as", *english, "as", *other.accusative), (*other.oblique, as_, form)
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
            statement = (*subject.english, be, "not", *rest, *english)
            return Sentence(statement, (*subject.direct, *hindi, "nahin", last), pairs)
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
        """Somebody likes, needs, or has something: in Hindi the person is in the dative."""
        subject = self.speaker.subject(frozenset({"person"}))
        tense = self.random.choice(("present", "past"))
        thing = self.speaker.phrase(_THINGS, subject)
        pairs = subject.pairs | thing.pairs
        third = subject.of == "he"
        which = self.random.choice(("like", "have", "need"))
        base, forms = which, {"like": ("likes", "liked"), "have": ("has", "had"), "need": ("needs", "needed")}[which]
        form = forms[1] if tense == "past" else forms[0] if third else base
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
        return Sentence((*subject.english, form, *thing.accusative), (*who, *thing.direct, *how, *last), pairs)

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
    """Return the pronouns for other people than the subject; `we` includes `i`."""
    same = {"i": ("i", "we"), "we": ("i", "we")}.get(subject.english[0], subject.english[:1])
    return [pronoun for pronoun in ("i", "you", "he", "she", "we", "they") if pronoun not in same]


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
