"""The help of every command: complete, readable on 80 columns, and in short sentences."""

import argparse
import re
from pathlib import Path

import pytest

from autograder.cli.program import COMMANDS, CommandParser, _parsed, file_of, parse
from tests.support import tiny

LONGEST_SENTENCE = 20


def parsers() -> dict[str, argparse.ArgumentParser]:
    made = {name: CommandParser(command=name, names=(), prog=f"course {name}") for name in COMMANDS}
    for parser in made.values():
        parser.complete()
    return dict(made)


PARSERS = parsers()
DOCUMENTED = sorted(set(PARSERS) - {"play"})
"""The help of `course play` is that of its activities, which only the course knows."""


def help_of(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as ended:
        parse([*arguments, "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_the_program_lists_every_command_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = help_of(monkeypatch, capsys).splitlines()
    listed = [line.split()[0] for line in lines if re.match(r"   \w", line)]
    assert sorted(listed) == sorted(PARSERS)
    assert max(map(len, lines)) <= 80


@pytest.mark.long
@pytest.mark.parametrize("command", DOCUMENTED)
def test_a_command_says_what_it_does_and_what_each_option_does(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = help_of(monkeypatch, capsys, command)
    assert re.search(r"^usage: course " + command, text)
    assert not re.search(r"%\(|\b(he|his|him)\b", text)
    actions = PARSERS[command]._actions
    assert not [action.dest for action in actions if not action.help]
    for option in ("--device", "--seed", "--layout", "--roster", "--jobs"):
        found = [action for action in actions if option in action.option_strings]
        assert all("(default: " in (action.help or "") for action in found), option


@pytest.mark.parametrize("command", sorted(PARSERS))
def test_sentences_of_a_description_are_short(command: str) -> None:
    description = PARSERS[command].description or ""
    prose = re.sub(r"(Exit status|FORMAT is one of): .*?\.(\s|$)", "", description, flags=re.DOTALL)
    for sentence in re.split(r"(?<=[.?!:;])\s", prose):
        assert len(sentence.split()) <= LONGEST_SENTENCE, sentence


def test_a_paragraph_is_wrapped_and_a_list_stays_as_it_is() -> None:
    from autograder.cli.program import HelpFormatter

    text = "One two\nthree.\n\n - four\n - five"
    assert HelpFormatter("course")._fill_text(text, 40, "") == "One two three.\n\n - four\n - five"


@pytest.mark.parametrize("command", ["check", "hint", "reset", "build", "adjust"])
def test_an_exercise_of_the_course_itself_is_the_example(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    without_a_course = " ".join(help_of(monkeypatch, capsys, command).split())
    assert "an exercise: its number, name or id" in without_a_course
    monkeypatch.chdir(tiny.copied(tmp_path / "course"))
    named = " ".join(help_of(monkeypatch, capsys, command).split())
    assert "an exercise: 1, 01, ex1, ex01, running_mean or ex01_running_mean" in named
    assert "attention" not in without_a_course + named


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "5", "--seed", "3", "--json", "-"],
        ["--plain", "hint"],
        ["--json", "list", "status"],
        ["play", "talk", "--steps", "3"],
        ["grade", "work", "--out", "out"],
        ["release", "kit", "--take", "one", "--take", "two"],
        [],
    ],
)
def test_options_mean_the_same_where_the_parser_of_one_command_alone_is_made(arguments: list[str]) -> None:
    def plain(options: argparse.Namespace) -> dict[str, object]:
        return {name: value for name, value in vars(options).items() if name != "command"}

    assert plain(parse(arguments)) == plain(_parsed(arguments, COMMANDS))


def test_a_command_is_a_module_of_an_application() -> None:
    files = {file.stem.removeprefix("command_") for file in (tiny.REPOSITORY / "autograder").glob("*/command_*.py")}
    assert files == {*COMMANDS, "overview"}
    assert all(file_of(name) for name in COMMANDS)
