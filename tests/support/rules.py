"""The rules for texts, names and functions that a program can check. It cannot check the tone.

python -m tests.support.rules            # every problem, file by file
python -m tests.support.rules --shrink   # remove from not_yet.txt what has become clean
"""

import argparse
import ast
import io
import json
import re
import tokenize
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from autograder.course import HINTS

ROOT = Path(__file__).parents[2]
COURSES = (ROOT, ROOT / "examples" / "autodiff")
PROJECT = ROOT / "tests" / "autograder" / "project"
NOT_YET = PROJECT / "not_yet.txt"

LINE = 100  # characters in a line of a document
SENTENCE = 20  # words in a sentence of a hint or a lesson
HINT = range(10, 41)  # words in a hint

SPOKEN = re.compile(r"[a-z]\w* \w+ \w+", re.IGNORECASE)
"""A string of the program with three words in a row is a message; others are names, keys and formats."""

QUOTED = re.compile(r"\$\$.*?\$\$|\$[^$]*\$|\"[^\"]*\"|\([^()]*\)", re.DOTALL)
"""What a sentence of a lesson quotes: formulas, words of others, and sources."""

PATTERN = re.compile(r"""\br(?:"[^"\n]+"|'[^'\n]+')""")
"""A raw string of one line: a regular expression, which nobody reads as a sentence."""

CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
END = re.compile(r"[.!?:;](?=\s|$)")
"""What ends a sentence. A colon and a semicolon do as well: the reader can rest there."""

STOP = re.compile(r"[.!?](?=\s|$)")
"""What ends a sentence of a lesson: there a colon does not, unless the paragraph ends with it."""

SOURCE = "Source: "
"""How a reference begins in a lesson: it may be longer than a sentence."""


@dataclass(frozen=True)
class Word:
    """Words that are not to be used, and what to say instead."""

    find: re.Pattern[str]
    use: str
    example: str
    everywhere: bool


@dataclass(frozen=True)
class Problem:
    """One place where a text breaks a rule."""

    file: str
    line: int
    rule: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.rule}: {self.sentence}"


def vocabulary() -> list[Word]:
    """Return the words of vocabulary.toml."""
    return [
        Word(re.compile(word["find"], re.IGNORECASE), word["use"], word["example"], word.get("everywhere", False))
        for word in _table()["words"]
    ]


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads((PROJECT / "vocabulary.toml").read_text("utf-8"))


def documents() -> list[Path]:
    """Return the pages that people write. docs/misconceptions.md is generated, from texts that are checked here."""
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    pages += [page for page in sorted((ROOT / "docs").glob("*.md")) if page.name != "misconceptions.md"]
    pages += [course / "README.md" for course in COURSES if course != ROOT]
    return [*pages, ROOT / "autograder" / "authoring" / "student_readme.md"]


def programs() -> list[Path]:
    """Return the programs whose messages and help people read: not those whose texts are the data of a language."""
    play = [file for file in (ROOT / "play").rglob("*.py") if file.parent.name not in ("language", "tales")]
    return sorted([*(ROOT / "autograder").rglob("*.py"), *play])


def templates() -> list[Path]:
    """Return the templates of pages, whose texts and comments people read."""
    return sorted((ROOT / "autograder").rglob("*.html.j2"))


def tests_and_benchmarks() -> list[Path]:
    """Return the checks, tests and benchmarks, with their helpers."""
    folders = [*(course / "tests" for course in COURSES), ROOT / "benchmarks", ROOT / "docs"]
    return sorted(file for folder in folders for file in folder.rglob("*.py"))


def courses() -> list[Path]:
    """Return the files with hints and with names and explanations of misconceptions."""
    return [
        file
        for course in COURSES
        for file in (
            course / "course.toml",
            *sorted((course / HINTS).glob("*.toml")),
            *sorted((course / "solutions" / "misconceptions").glob("*.toml")),
        )
    ]


def lessons() -> list[Path]:
    """Return the solutions, whose text cells are the lessons of the stubs and notebooks."""
    return [lesson for course in COURSES for lesson in sorted((course / "solutions").glob("ex*.py"))]


def paragraphs(lesson: str) -> Iterator[tuple[int, str]]:
    """Yield the first line and the text of every paragraph of a lesson, without headings, tables, code and links."""
    lines: list[tuple[int, str]] = []
    is_text = in_code = False
    for number, line in enumerate(lesson.splitlines(), 1):
        if line.startswith("# %%"):
            is_text = "[markdown]" in line
        text = line[2:] if is_text and not line.startswith("# %%") else ""
        in_code ^= text.startswith("```")
        if text and not in_code and not text.startswith(("```", "#", "|", "[")):
            lines.append((number, text))
        elif lines:
            yield lines[0][0], "\n".join(part for _, part in lines)
            lines.clear()
    if lines:
        yield lines[0][0], "\n".join(part for _, part in lines)


def messages(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of every string in a program that somebody may read, docstrings left out."""
    silent = set()
    for node in ast.walk(parsed(source)):  # a statement comes before its value
        if isinstance(node, ast.Expr):
            silent.add(id(node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            yield from [(node.lineno, node.value)] if SPOKEN.search(node.value) else []


@cache
def parsed(source: str) -> ast.Module:
    """Return the syntax tree of a program: several rules look at it."""
    return ast.parse(source)


@cache
def definitions(source: str) -> list[tuple[str | None, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Return every function of a program, with the name of its class: "" outside of one, None inside a function."""
    found: list[tuple[str | None, ast.FunctionDef | ast.AsyncFunctionDef]] = []
    pending: list[tuple[str | None, ast.AST]] = [("", parsed(source))]
    while pending:
        owner, parent = pending.pop()
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.append((owner, node))
                pending.append((None, node))
            elif isinstance(node, ast.ClassDef) and owner is not None:
                pending.append((f"{owner}{node.name}.", node))
            elif isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):  # no expression holds a definition
                pending.append((owner, node))
    return found


def documented_methods() -> set[str]:
    """Return the names of methods that have a docstring in some class: there the interface is described."""
    return {
        node.name
        for program in programs()
        for owner, node in definitions(program.read_text("utf-8"))
        if owner and ast.get_docstring(node)
    }


def texts_of(table: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the key and the text of every sentence that a file of a course shows to a learner."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from ((key if key in ("hints", "start") else inner, text) for inner, text in texts_of(value))
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, dict):
                    yield from texts_of(item)
                elif isinstance(item, str):
                    yield key, item
        elif isinstance(value, str) and key in ("name", "explanation", "hint", "title", "built", "about"):
            yield key, value


def lines_of_texts(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the key and the text of every sentence in a file of a course, which has them in this order."""
    at = 0
    for key, text in texts_of(tomllib.loads(source)):
        # A basic string writes quotes as JSON does, a literal one as they are.
        begins = (json.dumps(text, ensure_ascii=False)[1:-1][:40], text[:40])
        at = next((place for begin in begins if (place := source.find(begin, at + 1)) >= 0), at)
        yield source[:at].count("\n") + 1, key, text


def sentences(text: str, end: re.Pattern[str] = END) -> Iterator[str]:
    """Yield the sentences of a text; code in it counts as one word."""
    plain = CODE.sub("code", text)
    for sentence in end.split(plain):
        if sentence.strip():
            yield " ".join(sentence.split())


def problems() -> list[Problem]:
    """Return every place in the texts of the project that breaks a rule."""
    words = vocabulary()
    found = [problem for page in documents() if page.is_file() for problem in _of_document(page, words)]
    methods = documented_methods()
    for program in programs():
        found += _of_program(program, words)
        if program.is_relative_to(ROOT / "autograder"):
            found += _of_functions(program, methods)
    found += [problem for template in templates() for problem in _of_template(template, words)]
    found += [problem for file in tests_and_benchmarks() for problem in _of_test(file, words)]
    found += [problem for lesson in lessons() for problem in _of_lesson(lesson, words)]
    return found + [problem for file in courses() for problem in _of_course(file, words)]


def _of_document(page: Path, words: list[Word]) -> Iterator[Problem]:
    name = page.relative_to(ROOT).as_posix()
    text = page.read_text("utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > LINE and not line.startswith(("|", "![")):  # a row of a table and a picture cannot be broken
            yield Problem(name, number, "line", f"{len(line)} characters, at most {LINE}")
    prose = CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text)
    for number, line in enumerate(prose.splitlines(), 1):
        yield from _words(name, number, line, words)


def _of_lesson(lesson: Path, words: list[Word]) -> Iterator[Problem]:
    name = lesson.relative_to(ROOT).as_posix()
    source = lesson.read_text("utf-8")
    for number, paragraph in paragraphs(source):
        for at, line in enumerate(paragraph.splitlines(), number):
            if len(line) + 2 > LINE:
                yield Problem(name, at, "line", f"{len(line) + 2} characters, at most {LINE}")
        plain = QUOTED.sub("quoted", paragraph)
        yield from _words(name, number, CODE.sub("code", plain), words)
        yield from _long_sentences(name, number, plain, STOP)


def _of_program(program: Path, words: list[Word]) -> Iterator[Problem]:
    name = program.relative_to(ROOT).as_posix()
    source = program.read_text("utf-8")
    for number, line in enumerate(PATTERN.sub("", source).splitlines(), 1):
        yield from _words(name, number, line, [word for word in words if word.everywhere])
    for number, text in messages(source):
        yield from _words(name, number, CODE.sub("code", text), [word for word in words if not word.everywhere])
    yield from (Problem(name, number, "name", identifier) for number, identifier in vague_names(parsed(source)))


def _of_template(template: Path, words: list[Word]) -> Iterator[Problem]:
    name = template.relative_to(ROOT).as_posix()
    for number, line in enumerate(template.read_text("utf-8").splitlines(), 1):
        yield from _words(name, number, line, words)


def _of_test(file: Path, words: list[Word]) -> Iterator[Problem]:
    """Yield the problems of a test; its strings are left out, for they quote messages and programs."""
    name = file.relative_to(ROOT).as_posix()
    source = file.read_text("utf-8")
    tree = ast.parse(source)
    yield from (Problem(name, number, "name", identifier) for number, identifier in vague_names(tree))
    for number, text in (*descriptions(tree), *comments(source)):
        yield from _words(name, number, CODE.sub("code", text), words)


def descriptions(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of every docstring, and of the name of every definition, in words."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name.replace("_", " ")
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield from enumerate(node.value.value.splitlines(), node.lineno)


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of every comment in a program."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def vague_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of every definition and loop variable in a program that says too little."""
    names = _table()["names"]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.name.strip("_").lower() in names["definitions"]:
                yield node.lineno, node.name
        elif isinstance(node, ast.For | ast.comprehension):
            for target in ast.walk(node.target):
                if isinstance(target, ast.Name) and target.id in names["loops"]:
                    yield target.lineno, target.id
        elif isinstance(node, ast.Lambda):
            yield from ((arg.lineno, arg.arg) for arg in node.args.args if arg.arg in names["loops"])


def _of_functions(program: Path, methods: set[str]) -> Iterator[Problem]:
    name = program.relative_to(ROOT).as_posix()
    for owner, node in definitions(program.read_text("utf-8")):
        private = owner is None or any(part.startswith("_") for part in (*owner.split("."), node.name))
        interface = bool(owner) and node.name in methods
        if not private and not interface and not ast.get_docstring(node):
            yield Problem(name, node.lineno, "docstring", f"{owner}{node.name} has no docstring")


def _of_course(file: Path, words: list[Word]) -> Iterator[Problem]:
    name = file.relative_to(ROOT).as_posix()
    source = file.read_text("utf-8")
    for number, key, text in lines_of_texts(source):
        yield from _words(name, number, CODE.sub("code", text), words)
        if key in ("hint", "hints", "start"):
            yield from _long_sentences(name, number, text)
            if (count := len(text.split())) not in HINT:
                yield Problem(name, number, "hint", f"{count} words, expected {HINT[0]} to {HINT[-1]}: {text}")


def _long_sentences(name: str, number: int, text: str, end: re.Pattern[str] = END) -> Iterator[Problem]:
    for sentence in sentences(text, end):
        if sentence.startswith(SOURCE):
            continue
        if (count := len(sentence.split())) > SENTENCE:
            yield Problem(name, number, "sentence", f"{count} words, at most {SENTENCE}: {sentence}")


def _words(name: str, number: int, text: str, words: list[Word]) -> Iterator[Problem]:
    for word in words:
        if found := word.find.search(text):
            yield Problem(name, number, "word", f"{found[0].strip()!r}; use: {word.use}")


def not_yet() -> set[tuple[str, str]]:
    """Return the files that are not clean yet, each with the rule that it breaks."""
    lines = NOT_YET.read_text("utf-8").splitlines()
    return {(file, rule) for file, rule in (line.split() for line in lines if line and not line.startswith("#"))}


def shrink() -> int:
    """Remove from not_yet.txt what has become clean, add nothing; return how many lines are left."""
    lines = NOT_YET.read_text("utf-8").splitlines()
    broken = {(problem.file, problem.rule) for problem in problems()}
    kept = [line for line in lines if line.startswith("#") or tuple(line.split()) in broken]
    NOT_YET.write_text("\n".join(kept) + "\n", "utf-8")
    return sum(not line.startswith("#") for line in kept)


def main() -> None:
    """Print every problem, or shrink the list."""
    parser = argparse.ArgumentParser(description="Check the rules that a program can check.")
    parser.add_argument("--shrink", action="store_true", help="remove from not_yet.txt what has become clean")
    if parser.parse_args().shrink:
        print(f"{shrink()} files and rules are left in {NOT_YET.relative_to(ROOT)}")
    else:
        for problem in problems():
            print(problem)


if __name__ == "__main__":
    main()
