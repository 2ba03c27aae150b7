"""Phrases: pronouns, and nouns with their determiners and adjectives."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from play.language.lexicon import Adjective, Lexicon, Noun, agreeing

Words = tuple[str, ...]
Pair = tuple[str, str]
"""Two English words that belong together in a sentence, like `red shirt` or `eat mango`."""

YOU = {"aap": ("aap", "aapne", "aapko", "aapka"), "tum": ("tum", "tumne", "tumhen", "tumhaara")}
YOU["tu"] = ("tu", "tune", "tujhe", "tera")
PRONOUNS = {
    "i": ("main", "maine", "mujhe", "mera"),
    "he": ("vah", "usne", "use", "uska"),
    "she": ("vah", "usne", "use", "uska"),
    "we": ("ham", "hamne", "hamen", "hamaara"),
    "they": ("ve", "unhonne", "unhen", "unka"),
}
HOW = ("the", "own", "this", "that", "number", "bare", "of", "a", "every")
"""The determiners: `own` is my or his, `of` is the boy's, `number` is a number, `bare` is nothing."""

ALIVE = frozenset({"person", "animal"})
"""The kinds that can own something; as an object they take ko."""

OBJECTS = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them", "you": "you"}
OWNERS = {"i": "my", "he": "his", "she": "her", "we": "our", "they": "their", "you": "your"}


@dataclass(frozen=True)
class Phrase:
    """A person or a thing. `english` is its form as a subject, `accusative` as an object.

    `person` is main, vah, ve or tum: the Hindi verb agrees with it. `of` is i, he or we (for all plurals): the English
    verb agrees with it. `owner` is the English possessive. For a place, `inside` is `in` or `on`, and `to` is the
    postposition of a destination. A pronoun has its Hindi cases in `cases`.
    """

    english: Words
    accusative: Words
    direct: Words
    oblique: Words
    gender: str
    person: str
    of: str
    owner: str
    kind: str
    noun: str | None = None
    inside: str = "in"
    to: str = ""
    cases: tuple[str, str, str, str] | None = None
    pairs: frozenset[Pair] = frozenset()

    @property
    def plural(self) -> bool:
        """Whether the Hindi verb is plural, also out of respect."""
        return self.person in ("ve", "tum")

    @property
    def ergative(self) -> Words:
        return (self.cases[1],) if self.cases else (*self.oblique, "ne")

    @property
    def dative(self) -> Words:
        return (self.cases[2],) if self.cases else (*self.oblique, "ko")

    def with_se(self) -> Words:
        """Return the phrase with the postposition se; pronouns take it in their short oblique form."""
        return (*self.oblique, "se")

    @property
    def goal(self) -> Words:
        """Return the phrase as a destination: ghar, but kamre mein."""
        return (*self.oblique, self.to) if self.to else self.oblique

    def genitive(self, gender: str, *, plural: bool = False, oblique: bool = False) -> Words:
        """Return the possessor in agreement with the possession."""
        stem = self.cases[3] if self.cases else "ka"
        own = agreeing(stem, gender, plural=plural, oblique=oblique)
        return (own,) if self.cases else (*self.oblique, own)

    def under(self, postposition: str) -> Words:
        """Return the phrase with a postposition; those with `ke` take the possessor."""
        first, *rest = postposition.split()
        return (*self.genitive("m", oblique=True), *rest) if first == "ke" else (*self.oblique, first, *rest)


SHORT = {"main": "mujh", "vah": "us", "ham": "ham", "ve": "un", "aap": "aap", "tum": "tum", "tu": "tujh"}


def pronoun(english: str, you: str = "aap", gender: str = "m") -> Phrase:
    """Return a pronoun as a phrase; `you` and `gender` describe the addressee."""
    cases = YOU[you] if english == "you" else PRONOUNS[english]
    persons = {"i": "main", "he": "vah", "she": "vah", "we": "ve", "they": "ve"}
    person = {"aap": "ve", "tum": "tum", "tu": "vah"}[you] if english == "you" else persons[english]
    own_gender = gender if english == "you" else "f" if english == "she" else "m"
    agrees = {"i": "i", "he": "he", "she": "he", "you": "we", "we": "we", "they": "we"}[english]
    object_ = OBJECTS[english]
    short = (SHORT[cases[0]],)
    return Phrase(
        (english,), (object_,), (cases[0],), short, own_gender, person, agrees, OWNERS[english], "person", cases=cases
    )


@dataclass
class Speaker:
    """Draws phrases. `you` and `gender` describe the addressee: the form of address, and m or f."""

    words: Lexicon
    random: Random
    you: str = "aap"
    gender: str = "m"

    def noun_of(self, kinds: Sequence[str]) -> Noun:
        """Return a noun of one of these kinds; every kind is equally likely."""
        return self.random.choice(self.words.nouns_of[self.random.choice(sorted(kinds))])

    def pronoun(self, among: Sequence[str] = ("i", "you", "he", "she", "we", "they")) -> Phrase:
        """Return one of these pronouns."""
        return pronoun(self.random.choice(among), self.you, self.gender)

    def subject(self, kinds: frozenset[str]) -> Phrase:
        """Return a subject: half of the time a pronoun, if a person can do it."""
        if "person" in kinds and self.random.random() < 0.45:
            return self.pronoun()
        return self.phrase(kinds)

    def phrase(
        self,
        kinds: frozenset[str] | Sequence[str],
        subject: Phrase | None = None,
        *,
        one: bool = False,
        how: Sequence[str] = HOW,
    ) -> Phrase:
        """Return a noun with its determiner and adjective. A possession of the sentence's subject is apna.

        With `one` it is singular. `how` has the determiners to choose from; a, bare and number fit any noun.
        """
        noun = self.noun_of(tuple(kinds))
        many = noun.many is not None and not one and self.random.random() < 0.3
        adjective = self.random.choice(self.words.adjectives_of[noun.kind]) if self.random.random() < 0.35 else None
        return self._phrase(noun, many, adjective, subject, how)

    def _phrase(
        self,
        noun: Noun,
        many: bool,
        adjective: Adjective | None,
        subject: Phrase | None,
        among: Sequence[str] = HOW,
    ) -> Phrase:
        kinds = ["the", "the", "own", "this", "that"]
        kinds += ["number", "bare"] if many else ["bare", "of"] if noun.many is None else ["a", "a", "of", "every"]
        how = self.random.choice([kind for kind in kinds if kind in among])
        word = noun.many if many and noun.many else noun.one
        esteemed = noun.esteemed and not many and how not in ("a", "every")
        plural = many or esteemed
        before, direct, oblique = self._determined(how, many, noun, esteemed, subject)
        english = [*before, *([adjective.english] if adjective else []), word]
        if english[0] == "a" and (english[1][0] in "aeiou" or english[1] == "honest"):
            english[0] = "an"
        if adjective:
            direct = (*direct, agreeing(adjective.hindi, noun.gender, plural=plural))
            oblique = (*oblique, agreeing(adjective.hindi, noun.gender, plural=plural, oblique=True))
        pairs = {(adjective.english, noun.one)} if adjective else set()
        return Phrase(
            english=tuple(english),
            accusative=tuple(english),
            direct=(*direct, noun.form(plural=many, oblique=False)),
            oblique=(*oblique, noun.form(plural=many, oblique=True)),
            gender=noun.gender,
            person="ve" if plural else "vah",
            of="we" if many else "he",
            owner="" if noun.kind not in ALIVE else "their" if many else "her" if noun.gender == "f" else "his",
            kind=noun.kind,
            noun=noun.one,
            inside=noun.inside,
            to=noun.to,
            pairs=frozenset(pairs),
        )

    def _determined(
        self, how: str, many: bool, noun: Noun, esteemed: bool, subject: Phrase | None
    ) -> tuple[Words, Words, Words]:
        """Return a determiner in English, and in Hindi in both cases."""
        if how in ("the", "bare"):
            return ("the",) if how == "the" else (), (), ()
        if how in ("a", "every"):
            hindi = ("ek",) if how == "a" else ("har",)
            return (how,), hindi, hindi
        if how == "number":
            english = self.random.choice(tuple(self.words.numbers))
            hindi = (self.words.numbers[english],)
            return (english,), hindi, hindi
        if how in ("this", "that"):
            english = {"this": "these", "that": "those"}[how] if many else how
            direct = {"this": ("yah", "ye"), "that": ("vah", "ve")}[how][many or esteemed]
            oblique = {"this": ("is", "in"), "that": ("us", "un")}[how][many or esteemed]
            return (english,), (direct,), (oblique,)
        if how == "own":
            return self._owned(noun, many or esteemed, subject)
        owner = self.random.choice(self.words.owners)
        possessor = (owner.form(plural=False, oblique=True),)
        forms = [agreeing("ka", noun.gender, plural=many or esteemed, oblique=oblique) for oblique in (False, True)]
        return ("the", owner.one, "'s"), (*possessor, forms[0]), (*possessor, forms[1])

    def _owned(self, noun: Noun, plural: bool, subject: Phrase | None) -> tuple[Words, Words, Words]:
        who = self.random.choice(tuple(OWNERS))
        english = OWNERS[who]
        owner = pronoun(who, self.you, self.gender)
        stem = "apna" if subject is not None and subject.owner == english else (owner.cases or ("",) * 4)[3]
        forms = [agreeing(stem, noun.gender, plural=plural, oblique=oblique) for oblique in (False, True)]
        return (english,), (forms[0],), (forms[1],)
