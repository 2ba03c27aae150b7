"""The languages of `course play translate`: what agrees, one translation for one sentence, and what is held out."""

import importlib.util
import sys
from collections import defaultdict
from itertools import pairwise
from random import Random

import pytest

from tests.support import tiny

if "play" not in sys.modules:
    folder = tiny.REPOSITORY / "play"
    spec = importlib.util.spec_from_file_location(
        "play", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    sys.modules["play"] = importlib.util.module_from_spec(spec)

from play.language import clauses, grammar, lexicon
from play.language.corpus import LONGEST, corpus, is_held_out
from play.language.phrases import ALIVE, OWNERS, Phrase, Speaker, pronoun

WORDS = lexicon.lexicon()
CORPUS = corpus(3, 6000, 300)


class First(Random):
    """Takes the first of whatever there is to choose from: of the determiners, `the`."""

    def choice(self, among):  # type: ignore[no-untyped-def]
        return among[0]


def the(word: str) -> Phrase:
    """Return `the boy`, or `the boys`."""
    noun = next(noun for noun in WORDS.nouns if word in (noun.one, noun.many))
    return Speaker(WORDS, First())._phrase(noun, word == noun.many, None, None)


def clause(subject: Phrase, base: str, tense: str, thing: Phrase | None = None) -> clauses.Clause:
    verb = next(verb for verb in WORDS.verbs if verb.base == base)
    alive = thing is not None and thing.kind in ALIVE
    english = thing.accusative if thing else ()
    hindi = () if thing is None else thing.dative if alive else thing.direct
    return clauses.Clause(verb, tense, subject, english, hindi, thing, alive)


SAID = [
    (the("boy"), "eat", "present", the("bread"), "ladka roti khaata hai"),
    (the("girl"), "eat", "present", the("bread"), "ladki roti khaati hai"),
    (the("girls"), "eat", "habitual", the("bread"), "ladkiyaan roti khaati thin"),
    (the("father"), "read", "present", the("book"), "pita kitaab padhte hain"),
    (pronoun("i"), "drink", "progressive", the("milk"), "main doodh pee raha hoon"),
    (pronoun("she"), "drink", "past_progressive", the("tea"), "vah chaay pee rahi thi"),
    (pronoun("you", "tum", "f"), "read", "progressive", the("book"), "tum kitaab padh rahi ho"),
    (pronoun("you", "tu", "m"), "sleep", "present", None, "tu sota hai"),
    (pronoun("you"), "sleep", "future", None, "aap soyenge"),
    (the("boy"), "eat", "past", the("bread"), "ladke ne roti khaayi"),
    (the("boy"), "eat", "past", the("apple"), "ladke ne seb khaaya"),
    (the("girl"), "eat", "past", the("bananas"), "ladki ne kele khaaye"),
    (the("girl"), "buy", "past", the("books"), "ladki ne kitaaben khareedin"),
    (the("boys"), "see", "perfect", the("girl"), "ladkon ne ladki ko dekha hai"),
    (pronoun("he"), "bring", "past", the("book"), "vah kitaab laaya"),
    (the("women"), "go", "past", None, "auraten gayin"),
    (the("woman"), "work", "pluperfect", None, "aurat ne kaam kiya tha"),
    (pronoun("they"), "close", "past", the("door"), "unhonne darvaaza band kiya"),
    (pronoun("we"), "close", "past", the("window"), "hamne khidki band ki"),
    (pronoun("i"), "read", "should", the("book"), "mujhe kitaab padhni chaahiye"),
    (the("girl"), "read", "should", the("newspaper"), "ladki ko akhbaar padhna chaahiye"),
    (the("girl"), "read", "want", the("newspaper"), "ladki akhbaar padhna chaahti hai"),
    (pronoun("we"), "swim", "can", None, "ham tair sakte hain"),
    (the("child"), "cry", "begin", None, "bachcha rone laga"),
    (the("children"), "give", "future", the("flowers"), "bachche phool denge"),
    (the("queens"), "see", "begin", the("flower"), "raaniyaan phool dekhne lagin"),
    (the("mother"), "walk", "begin", None, "maa chalne lagin"),
    (the("girl"), "walk", "begin", None, "ladki chalne lagi"),
    (pronoun("you", "tum", "f"), "sleep", "habitual", None, "tum soti thin"),
    (pronoun("you", "tum", "f"), "sleep", "past", None, "tum soyin"),
    (the("student"), "buy", "past", the("book"), "chhaatra ne kitaab khareedi"),
    (the("students"), "buy", "past", the("book"), "chhaatron ne kitaab khareedi"),
]


@pytest.mark.parametrize(("subject", "base", "tense", "thing", "hindi"), SAID)
def test_a_verb_agrees_with_what_it_should(
    subject: Phrase, base: str, tense: str, thing: Phrase | None, hindi: str
) -> None:
    assert " ".join(clause(subject, base, tense, thing).statement()[1]) == hindi


def test_negations_and_questions_keep_the_verb_at_the_end() -> None:
    eats = clause(the("boy"), "eat", "past", the("bread"))
    assert [" ".join(words) for words in eats.statement(negated=True)] == [
        "the boy did not eat the bread",
        "ladke ne roti nahin khaayi",
    ]
    assert [" ".join(words) for words in eats.question()] == ["did the boy eat the bread", "kya ladke ne roti khaayi"]
    goes = clause(pronoun("you", "tum"), "go", "progressive")
    assert [" ".join(words) for words in goes.question(("where",), ("kahaan",))] == [
        "where are you going",
        "tum kahaan jaa rahe ho",
    ]


def test_what_stands_before_a_noun_has_its_gender() -> None:
    genders = defaultdict(set)
    for noun in WORDS.nouns:
        for plural in (False, True):
            for oblique in (False, True):
                genders[noun.form(plural=plural, oblique=oblique)].add(noun.gender)
    stems = {adjective.hindi[:-1] for adjective in WORDS.adjectives if adjective.hindi.endswith("a")}
    stems |= {"mer", "aapk", "tumhaar", "ter", "usk", "hamaar", "unk", "apn"}
    seen = 0
    for _, hindi in CORPUS.training:
        for word, following in pairwise(hindi):
            gender = genders.get(following, set())
            if word[:-1] in stems and word[-1] in "aei" and len(gender) == 1 and word not in genders:
                assert word.endswith("i") == (gender == {"f"}), hindi
                seen += 1
    assert seen > 1000


def test_not_is_nahin_or_mat_and_a_question_of_yes_and_no_begins_with_kya() -> None:
    for english, hindi in (pair for pair in CORPUS.training if " ".join(pair[0]) not in WORDS.phrases):
        assert ("not" in english) == bool({"nahin", "mat"} & set(hindi)), english
        called = WORDS.vocatives.get(english[0], ("",))[0].split()
        first = english[1] if called and len(english) > 1 else english[0]
        if first in ("is", "are", "am", "was", "were", "does", "did", "has", "have", "had", "will", "can", "should"):
            assert hindi[len(called)] == "kya", (english, hindi)


def test_one_english_sentence_has_one_translation_and_a_seed_one_corpus() -> None:
    said = defaultdict(set)
    for english, hindi in (*CORPUS.training, *CORPUS.unseen, *CORPUS.combined):
        said[english].add(hindi)
    assert not [translations for translations in said.values() if len(translations) > 1]
    assert corpus(3, 200, 20) == corpus(3, 200, 20)
    assert corpus(3, 200, 20) != corpus(4, 200, 20)


@pytest.mark.parametrize(
    "subject", [pronoun("he"), pronoun("they"), pronoun("i")], ids=lambda subject: subject.english[0]
)
def test_no_two_tenses_of_a_verb_are_the_same_in_english(subject: Phrase) -> None:
    drawn = grammar.Grammar(Random(1))
    for verb in WORDS.verbs:
        tenses = {drawn._tense(verb) for _ in range(80)}
        assert len(tenses) > 8
        made = [clauses.Clause(verb, tense, subject) for tense in tenses]
        assert len({clause.statement()[0] for clause in made}) == len(tenses), verb.base
        assert len({clause.question()[0] for clause in made if clause.tense not in clauses.UNASKED}) > 6


def test_somebody_goes_to_a_room_or_on_a_road_and_things_own_nothing() -> None:
    goals = {word: " ".join(the(word).goal) for word in ("house", "room", "river", "road", "mountain")}
    assert goals == {
        "house": "ghar", "room": "kamre mein", "river": "nadi par", "road": "sadak par", "mountain": "pahaad par",
    }  # fmt: skip
    at = grammar.Grammar(Random(1))._at
    said = [tuple(" ".join(words) for words in at("in", the(word))) for word in ("river", "road")]
    assert said == [("in the river", "nadi mein"), ("on the road", "sadak par")]
    assert [the(word).owner for word in ("city", "book", "girl", "dogs")] == ["", "", "her", "their"]


def test_nobody_is_forgetting_a_word() -> None:
    learned = [english for english, _ in CORPUS.training]
    assert not [sentence for sentence in learned if {"forgetting", "hearing", "seeing"} & set(sentence)]
    assert [sentence for sentence in learned if {"forgot", "heard", "saw"} & set(sentence)]


def test_a_subject_is_not_its_own_object() -> None:
    others = {who: set(grammar._others(pronoun(who))) for who in ("i", "we", "she")}
    assert others["i"] == others["we"] == {"you", "he", "she", "they"}
    assert others["she"] == {"i", "you", "he", "we", "they"}


DETERMINED = {"the", "this", "that", "these", "those", "every", *OWNERS.values()}


def test_there_is_something_that_was_not_spoken_of() -> None:
    drawn = grammar.Grammar(Random(1))
    for _ in range(200):
        english = drawn.being_there().english
        assert english[0] == "there"
        assert english[2] not in DETERMINED, english


def test_what_is_the_subjects_own_is_apna_in_a_comparison_too() -> None:
    drawn = grammar.Grammar(Random(1))
    compared = [sentence for sentence in (drawn.being() for _ in range(6000)) if sentence.english.count("as") == 2]
    own = [sentence for sentence in compared if OWNERS.get(sentence.english[0]) in sentence.english]
    assert own
    assert not [sentence for sentence in own if not {"apna", "apne", "apni"} & set(sentence.hindi)]


def test_tu_and_please_do_not_go_together() -> None:
    drawn = grammar.Grammar(Random(1))
    drawn.speaker.you = "tu"
    assert not [sentence for sentence in (drawn.asking_for() for _ in range(200)) if "please" in sentence.english]


def test_the_corpus_is_large_enough() -> None:
    english = {word for pair in CORPUS.training for word in pair[0]}
    hindi = {word for pair in CORPUS.training for word in pair[1]}
    assert len(english) >= 400
    assert len(hindi) >= 400
    assert all(len(sentence) <= LONGEST for pair in CORPUS.training for sentence in pair)
    phrases = {" ".join(sentence): " ".join(translation) for sentence, translation in CORPUS.training}
    assert phrases["hello world"] == "namaste duniya"
    assert phrases["how are you"] == "aap kaise hain"
    one = [verb for verb in WORDS.verbs_of["transitive"] if not ALIVE & verb.kinds]
    objects = [
        (verb.base, noun.one, adjective)
        for verb in one
        for kind in verb.kinds
        for noun in WORDS.nouns_of[kind]
        for adjective in ("", *(word.english for word in WORDS.adjectives_of[kind]))
    ]
    assert len(set(objects)) == len(objects)
    pronouns, determiners, tenses = 6, 9, len(clauses.TENSES)  # the, this, that and the six owners
    assert pronouns * tenses * determiners * len(objects) > 2_000_000


def test_test_sentences_are_not_in_the_training_set() -> None:
    learned = {english for english, _ in CORPUS.training}
    unseen, combined = ({english for english, _ in pairs} for pairs in (CORPUS.unseen, CORPUS.combined))
    assert len(unseen) == len(combined) == 300
    assert not learned & unseen
    assert not learned & combined
    nouns = {form: noun.one for noun in WORDS.nouns for form in (noun.one, noun.many) if form}
    adjectives = {adjective.english for adjective in WORDS.adjectives}

    def apart(english: tuple[str, ...]) -> bool:
        pairs = [(one, nouns.get(two, "")) for one, two in pairwise(english) if one in adjectives]
        return any(is_held_out(pair) for pair in pairs if pair[1])

    assert not [sentence for sentence in learned if apart(sentence)]
    assert sum(map(apart, combined)) > 50
