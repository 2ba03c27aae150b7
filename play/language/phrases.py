"""Who and what a sentence speaks of: pronouns, and nouns with all that stands before them."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from play.language.lexicon import Adjective, Lexicon, Noun, agreeing

Words = tuple[str, ...]
Pair = tuple[str, str]
"""Two English words that stand in one sentence and belong together, like `red shirt` or `eat mango`."""

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
"""What stands before a noun: `own` is my or his, `of` the boy's, `number` how many, `bare` nothing."""

ALIVE = frozenset({"person", "animal"})
"""These own something; as an object they take ko."""

OBJECTS = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them", "you": "you"}
OWNERS = {"i": "my", "he": "his", "she": "her", "we": "our", "they": "their", "you": "your"}


@dataclass(frozen=True)
class Phrase:
    """Somebody or something. `english` is how it is the subject, `accusative` how it is an object.

    `person` is main, vah, ve or tum, after what the Hindi verb agrees with; `of` is what English agrees with: i, he, we
    (as all plurals) or you. `owner` is the English word for what is its own. A place has in `inside` what English puts
    before it, in or on, and in `to` the postposition of whoever goes there. A pronoun has its cases in `cases`.
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
        """Whether the Hindi verb is plural, be it out of respect."""
        return self.person in ("ve", "tum")

    @property
    def ergative(self) -> Words:
        return (self.cases[1],) if self.cases else (*self.oblique, "ne")

    @property
    def dative(self) -> Words:
        return (self.cases[2],) if self.cases else (*self.oblique, "ko")

    def with_se(self) -> Words:
        """Return it with the postposition se, which pronouns take in their short oblique form."""
        return (*self.oblique, "se")

    @property
    def goal(self) -> Words:
        """Return it as where somebody goes: ghar, but kamre mein."""
        return (*self.oblique, self.to) if self.to else self.oblique

    def genitive(self, gender: str, *, plural: bool = False, oblique: bool = False) -> Words:
        """Return the possessor before what is possessed."""
        stem = self.cases[3] if self.cases else "ka"
        own = agreeing(stem, gender, plural=plural, oblique=oblique)
        return (own,) if self.cases else (*self.oblique, own)

    def under(self, postposition: str) -> Words:
        """Return it under a postposition; `ke` ones take the possessor."""
        first, *rest = postposition.split()
        return (*self.genitive("m", oblique=True), *rest) if first == "ke" else (*self.oblique, first, *rest)


SHORT = {"main": "mujh", "vah": "us", "ham": "ham", "ve": "un", "aap": "aap", "tum": "tum", "tu": "tujh"}


def pronoun(english: str, you: str = "aap", gender: str = "m") -> Phrase:
    """Return a pronoun as a phrase; `you` and `gender` are of the one who is spoken to."""
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
    """Draws phrases. `you` is how the one who is spoken to is addressed, and `gender` whether it is a he or a she."""

    words: Lexicon
    random: Random
    you: str = "aap"
    gender: str = "m"

    def noun_of(self, kinds: Sequence[str]) -> Noun:
        """Return a noun of one of these kinds, every kind being as likely."""
        return self.random.choice(self.words.nouns_of[self.random.choice(sorted(kinds))])

    def pronoun(self, among: Sequence[str] = ("i", "you", "he", "she", "we", "they")) -> Phrase:
        """Return one of these pronouns."""
        return pronoun(self.random.choice(among), self.you, self.gender)

    def subject(self, kinds: frozenset[str]) -> Phrase:
        """Return who does something: half of the time a pronoun, where that can do it."""
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
        """Return a noun with what stands before it. What belongs to the subject of the sentence is apna, its own.

        With `one` it is a single one. `how` is what may stand before it; a, bare and number are enough for any noun.
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
        how = self.random.choice([each for each in kinds if each in among])
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
        """Return what stands before a noun: in English, and in Hindi in both cases."""
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
