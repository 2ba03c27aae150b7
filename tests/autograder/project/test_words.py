"""One word, one meaning: the list of words in CONTRIBUTING.md, and the names of the engine."""

import ast
import re
from collections import Counter
from pathlib import Path

from tests.support import tiny

ENGINE = tiny.REPOSITORY / "autograder"
KERNEL = (
    *("protocol", "checks", "edits", "worker", "course", "results", "submission", "runner", "sandbox"),
    *("comparison", "answer_key", "diagnosis", "judge", "report"),
)
MOST_WORDS = 40


def rows() -> list[tuple[str, str, str]]:
    """Return the words, their meanings, and the words that mean the same and are not used."""
    guide = (tiny.REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")
    table = guide[guide.index("| word |") : guide.index("## Add something")]
    found = re.findall(r"^\| (\w+) \| ([^|]+) \|([^|]*)\|$", table, re.MULTILINE)
    return [(word, meaning.strip(), other.strip()) for word, meaning, other in found if word != "word"]


def modules(*rooms: str) -> list[Path]:
    """Return the modules of some rooms, or of all."""
    folders = [ENGINE / room for room in rooms] or [ENGINE]
    return [file for folder in folders for file in sorted(folder.rglob("*.py")) if "skeleton" not in file.parts]


def classes_of(file: Path) -> list[str]:
    """Return the public classes of a module."""
    body = ast.parse(file.read_bytes()).body
    return [node.name for node in body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]


def words_of_names() -> Counter[str]:
    """Return the words in the names of all modules, classes and functions of the engine."""
    names = []
    for file in modules():
        names.append(file.stem)
        kinds = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        names += [node.name for node in ast.walk(ast.parse(file.read_bytes())) if isinstance(node, kinds)]
    parts = (part for name in names for part in re.findall(r"[A-Z]?[a-z]+", name))
    return Counter(part.lower().removesuffix("s") for part in parts)


def test_the_list_is_short_sorted_and_of_words_that_names_use() -> None:
    words = [word for word, _, _ in rows()]
    assert 0 < len(words) <= MOST_WORDS
    assert words == sorted(words)
    used = words_of_names()
    assert [word for word in words if not used[word.removesuffix("s")]] == []


def test_no_name_uses_a_word_for_which_there_is_another() -> None:
    used = words_of_names()
    assert [other for _, _, other in rows() if other and used[other]] == []


def test_no_two_modules_and_no_two_public_classes_of_the_kernel_have_one_name() -> None:
    every = modules(*KERNEL)
    stems = Counter(file.stem for file in every if not file.stem.startswith("__"))
    assert {stem: count for stem, count in stems.items() if count > 1} == {}
    classes = Counter(name for file in every for name in classes_of(file))
    assert {name: count for name, count in classes.items() if count > 1} == {}
