"""The rules for texts, names and functions: every file keeps them, except those in not_yet.txt, which only shrinks."""

import ast
import re

import pytest

from tests.support import rules

HOW = "python -m tests.support.rules"


@pytest.fixture(scope="module")
def problems() -> list[rules.Problem]:
    return rules.problems()


@pytest.mark.parametrize("rule", ["word", "line", "sentence", "hint", "name", "docstring"])
def test_every_file_keeps_the_rule(problems: list[rules.Problem], rule: str) -> None:
    excused = rules.not_yet()
    broken = [str(problem) for problem in problems if problem.rule == rule and (problem.file, rule) not in excused]
    assert not broken, "\n".join(broken)


def test_the_list_of_exceptions_names_only_files_that_break_the_rule(problems: list[rules.Problem]) -> None:
    clean = rules.not_yet() - {(problem.file, problem.rule) for problem in problems}
    assert not clean, f"these are clean now, so take them off the list: {HOW} --shrink"


@pytest.mark.parametrize("word", rules.vocabulary(), ids=lambda word: word.use)
def test_each_expression_of_the_vocabulary_finds_its_example(word: rules.Word) -> None:
    assert word.find.search(word.example)


def test_a_message_is_a_string_of_words_and_no_docstring() -> None:
    source = '"""A module of three words."""\nname = "ex01-key"\nprint(f"the file {name} is not there")\n'
    assert [text for _, text in rules.messages(source)] == [" is not there"]


def test_a_regular_expression_is_no_sentence() -> None:
    [word] = [word for word in rules.vocabulary() if word.find.search("he")]
    source = 'PATTERN = r"(he|she)"\ntext = "he"\n'
    assert word.everywhere
    assert not word.find.search(rules.PATTERN.sub("", source.splitlines()[0]))
    assert word.find.search(rules.PATTERN.sub("", source.splitlines()[1]))


def test_a_text_of_a_course_has_its_own_line_though_others_begin_alike() -> None:
    alike = "Which of the axes of your result are the positions"
    source = (
        f'[hints]\na = [\n    "{alike}?",\n    "He said \\"no\\"."]\n'
        f'b = ["{alike} of the text?"]\n'
        f"[start]\nf = ['Read \"x\" again.']\n"
    )
    lines = [(number, key) for number, key, _ in rules.lines_of_texts(source)]
    assert lines == [(3, "hints"), (4, "hints"), (5, "hints"), (7, "start")]


def test_code_in_a_sentence_counts_as_one_word() -> None:
    assert list(rules.sentences("Use `nn.Embedding(a, b)`. Add it: then `x + 1`!")) == [
        "Use code",
        "Add it",
        "then code",
    ]


def test_a_lesson_is_its_paragraphs_without_headings_tables_links_and_code() -> None:
    lesson = (
        "# %% [markdown]\n# # Title\n#\n# One sentence,\n# on two lines.\n#\n# | a | b |\n#\n# [`f`]: https://a.b\n#\n"
        "# ```text\n# 1 2\n# ```\n# Two.\n\n# %%\n# a comment\nx = 1\n"
    )
    assert list(rules.paragraphs(lesson)) == [(4, "One sentence,\non two lines."), (14, "Two.")]


def test_a_sentence_of_a_lesson_is_not_cut_at_a_colon_and_a_source_is_none() -> None:
    words = "one two three four five six seven eight nine ten"
    assert len(list(rules._long_sentences("f", 1, f"{words}: {words} eleven.", rules.STOP))) == 1
    assert list(rules._long_sentences("f", 1, f"{words}: {words} eleven.")) == []
    assert list(rules._long_sentences("f", 1, f"Source: {words}, {words} eleven.", rules.STOP)) == []


def test_every_lesson_has_a_box_with_linked_calls() -> None:
    for lesson in rules.lessons():
        _, *after = re.split(r"# \*\*(?:PyTorch|NumPy|Python|Triton) you need\.\*\*", lesson.read_text("utf-8"))
        number = lesson.stem.partition("_")[0]
        assert after, f'{number}: the lesson has no box "**PyTorch you need.**", see docs/authoring.md, "The solution"'
        box = after[0].split("\n# |---|---|\n")[1]
        rows, links = box.split("\n#\n")[:2]
        assert 2 <= len(rows.splitlines()) <= 9, lesson.name
        cells = " ".join(row.split(" | ")[1] for row in rows.splitlines())
        calls = re.findall(r"\[(`[^`]+`)\](?:\[(\w+)\])?", cells)
        named = {key or call for call, key in calls}
        pages = r"https://(?:docs\.pytorch|docs\.python|numpy|triton-lang)\.org/\S+"
        linked = dict(re.findall(rf"^# \[(.+)\]: ({pages})$", links, re.M))
        assert named == set(linked), lesson.name


def test_a_vague_name_is_found_in_definitions_loops_and_lambdas() -> None:
    source = "def _told(): pass\nfor each in (): pass\nrows = [each for each, other in ()]\ntold = lambda each: 1\n"
    assert sorted(rules.vague_names(ast.parse(source))) == [(1, "_told"), (2, "each"), (3, "each"), (4, "each")]


def test_the_names_docstrings_and_comments_of_a_test_are_descriptions_and_its_strings_are_not() -> None:
    source = 'def test_it_is_told() -> None:\n    """One\n    two."""\n    text = "three"  # four\n'
    assert list(rules.descriptions(ast.parse(source))) == [(1, "test it is told"), (2, "One"), (3, "    two.")]
    assert list(rules.comments(source)) == [(4, "# four")]


def test_the_rules_hold_for_checks_tests_and_benchmarks() -> None:
    files = {file.relative_to(rules.ROOT).as_posix() for file in rules.tests_and_benchmarks()}
    for file in ("tests/autograder/project/test_rules.py", "tests/exercises/try_ex05_attention.py"):
        assert file in files
    assert {file.split("/")[0] for file in files} == {"tests", "benchmarks", "docs", "examples"}


def test_a_function_knows_its_class_unless_it_lies_in_a_function() -> None:
    source = "def a():\n    def b(): pass\nclass C:\n    class D:\n        def e(self): pass\n"
    assert {(owner, node.name) for owner, node in rules.definitions(source)} == {("", "a"), (None, "b"), ("C.D.", "e")}
