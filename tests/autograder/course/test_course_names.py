"""The short names of exercises."""

from dataclasses import replace
from pathlib import Path

import pytest

from autograder.course import Course, Exercise, Limits, UsageError, names_of, resolve_exercise


def course_of(*ids: str) -> Course:
    exercises = tuple(Exercise(id_, id_, 100, (), {}, ()) for id_ in ids)
    return Course(Path(), "A course", 0, Limits(), (), exercises)


@pytest.fixture
def course() -> Course:
    return course_of("ex01_embeddings", "ex05_attention", "ex06_multi_head")


@pytest.mark.parametrize("word", ["5", "05", "ex05", "ex5", "attention", "ex05_attention", "att", "ex05_a", " EX05 "])
def test_an_exercise_has_many_names(course: Course, word: str) -> None:
    assert resolve_exercise(course, word).id == "ex05_attention"


@pytest.mark.parametrize("word", ["multi_head", "multi-head", "multi", "6"])
def test_underscores_in_a_name_may_be_dashes_and_its_end_left_out(course: Course, word: str) -> None:
    assert resolve_exercise(course, word).id == "ex06_multi_head"


@pytest.mark.parametrize("word", ["rope", "ROPE", "ro"])
def test_an_exercise_is_found_by_what_learners_call_it(word: str) -> None:
    rotary = replace(course_of("ex17_rotary").exercises[0], also=("rope",))
    course = replace(course_of("ex01_embeddings"), exercises=(*course_of("ex01_embeddings").exercises, rotary))
    assert resolve_exercise(course, word).id == "ex17_rotary"


@pytest.mark.parametrize("word", ["head attention", "Multi-head attention", "multi heads", "attentions-multi", "head"])
def test_words_of_its_title_find_an_exercise(word: str) -> None:
    multi_head = replace(course_of("ex06_multi_head").exercises[0], title="multi heads of attentions")
    course = replace(course_of("ex01_embeddings"), exercises=(*course_of("ex01_embeddings").exercises, multi_head))
    assert resolve_exercise(course, word).id == "ex06_multi_head"


def test_words_of_several_titles_list_what_they_could_be() -> None:
    with pytest.raises(UsageError, match="'norm' could be ex03_layer_norm, ex16_rms_norm; write more of the name"):
        resolve_exercise(course_of("ex03_layer_norm", "ex16_rms_norm"), "norm")


def test_a_word_of_lessons_names_their_exercises(course: Course, tmp_path: Path) -> None:
    course = replace(course, root=tmp_path)
    course.exercises_dir.mkdir()
    (course.exercises_dir / "ex01_embeddings.py").write_text("# a beam\n# search of beams\n", "utf-8")
    (course.exercises_dir / "ex06_multi_head.py").write_text("# %%\n# Beam-search\nshade = 1\n", "utf-8")
    both = "exercises 01 and 06"
    for word, found in (("beam", both), ("BEAM_search", both), ("beams", "exercise 01")):
        with pytest.raises(UsageError) as caught:
            resolve_exercise(course, word)
        more = f"You find this word in {found}. `course list` shows all exercises."
        assert str(caught.value) == f"There is no exercise `{word}`. {more}"
    for word in ("shade", "bea", "_", "", "%"):
        with pytest.raises(UsageError) as caught:
            resolve_exercise(course, word)
        assert "You find" not in str(caught.value)


def test_an_unknown_exercise_names_the_nearest_and_the_command_that_lists_all(course: Course) -> None:
    with pytest.raises(UsageError) as caught:
        resolve_exercise(course, "atention")
    expected = "There is no exercise `atention`. Did you mean `ex05_attention`? `course list` shows all exercises."
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("word", "near"), [("99", "ex06_multi_head"), ("ex03", "ex01_embeddings"), ("4", "ex05_attention")]
)
def test_an_unknown_number_names_the_exercise_with_the_nearest_number(course: Course, word: str, near: str) -> None:
    with pytest.raises(UsageError, match=f"Did you mean `{near}`"):
        resolve_exercise(course, word)


@pytest.mark.parametrize("word", ["99", "0", "ex29", " 28 "])
def test_the_message_for_a_number_beyond_the_last_exercise_has_all_numbers(word: str) -> None:
    course = course_of(*(f"ex{number:02}_name{number}" for number in range(1, 28)))
    with pytest.raises(UsageError) as caught:
        resolve_exercise(course, word)
    numbers = "There are 27 exercises: 1 to 27. `course list` shows all exercises."
    assert str(caught.value) == f"There is no exercise `{word}`. {numbers}"


@pytest.mark.parametrize("word", ["", "99", "0", "²", "9" * 5000, "\x1b[2J"])
def test_a_word_like_no_name_is_refused(course: Course, word: str) -> None:
    with pytest.raises(UsageError, match="There is no exercise `") as caught:
        resolve_exercise(course, word)
    assert str(caught.value).isprintable()


def test_an_ambiguous_beginning_lists_what_it_could_be(course: Course) -> None:
    with pytest.raises(UsageError) as caught:
        resolve_exercise(course, "ex0")
    expected = "could be ex01_embeddings, ex05_attention, ex06_multi_head; write more of the name"
    assert str(caught.value) == f"'ex0' {expected}"


def test_the_whole_name_of_one_exercise_may_begin_that_of_another() -> None:
    course = course_of("ex05_attention", "ex06_attention_heads")
    assert resolve_exercise(course, "attention").id == "ex05_attention"


def test_every_name_that_the_help_shows_leads_to_its_exercise(course: Course) -> None:
    assert names_of(course.exercises[1]) == ["5", "05", "ex5", "ex05", "attention", "ex05_attention"]
    assert {resolve_exercise(course, name).id for name in names_of(course.exercises[1])} == {"ex05_attention"}
