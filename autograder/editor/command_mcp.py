"""Let an assistant help without giving the solution away.

An assistant that speaks the Model Context Protocol starts this server and talks to it over stdin and stdout. Its tools
say where you are and check your code. They show the lesson, the hint that is due, and a question to ask you. None shows
a solution, and hints keep their order. It needs mcp.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from subprocess import DEVNULL

from autograder import __version__
from autograder.cli import warn
from autograder.course import Course, Exercise, UsageError, find_course, read_course, resolve_exercise, stub_text
from autograder.ending import FAIL, PASS
from autograder.progress import failure_texts, read_progress
from autograder.report import exercise_sentences, lines_of
from autograder.results import from_json

INSTRUCTIONS = (
    "The learner writes the exercises of this course to learn, and the checks judge them. Ask before you tell. "
    "Do not write the code of a TODO, and do not state the line that is missing. Begin with `where`. After a failed "
    "`check`, ask what `question` returns, or point to a passage of `lesson`. Take a `hint` only if the learner wants "
    "one: it counts, and the next one needs an edit."
)
"""What every assistant reads first; AGENTS.md of the course says it at length."""

MOST_CHARACTERS = 6_000
"""Of a lesson in one answer: about two screens of text."""


def run(options: argparse.Namespace) -> int:  # noqa: ARG001 - every command takes its options
    """Run the command until the assistant ends it. Only messages of the protocol go to stdout."""
    try:
        import mcp.server
    except ImportError:
        raise UsageError(
            "this server needs mcp: install it with `pip install mcp`, or the extra `mcp` of this kit"
        ) from None
    course = read_course(find_course())
    if os.isatty(0):
        warn("an assistant starts this server and talks to it; docs/assistants.md says how. Ctrl-C ends it")
    server = mcp.server.MCPServer(
        "course", title=course.title, version=__version__, instructions=INSTRUCTIONS, log_level="ERROR"
    )
    for tool in Tools(course.root).all():
        server.add_tool(tool, structured_output=False)
    server.run("stdio")
    return PASS


class Tools:
    """The tools of the server. Each runs a command as the learner would, or reads what a command shows the learner.

    A tool that cannot answer raises `ToolError` with the sentence of the command. The assistant reads it.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def all(self) -> list[Callable[..., Awaitable[str]]]:
        """Return the tools; their docstrings are what an assistant reads."""
        return [self.where, self.check, self.hint, self.question, self.lesson]

    async def where(self) -> str:
        """Say which exercise the learner is on, what passes there, and what the next step is."""
        return (await self._course("--plain"))[1]

    async def check(self, exercise: str = "") -> str:
        """Check the learner's file, and return the first failure: its sentence and its line.

        It counts as a check of the learner. `exercise` is a number or a name; without it, the one they are on.
        """
        _, chosen = self._chosen(exercise)
        status, answer = await self._course("check", chosen.id, "--no-questions", "--json", "-", also=(FAIL,))
        result = from_json(json.loads(answer)).exercises[0]
        passed = f"All {len(result.checks)} checks pass." if status == PASS else ""
        return "\n".join(lines_of([*exercise_sentences(result, (), brief=True), *filter(None, [passed])]))

    async def hint(self, exercise: str = "") -> str:
        """Take the next hint for the learner's last failure. It counts, and after the first, the next needs an edit."""
        _, chosen = self._chosen(exercise)
        answer = json.loads((await self._course("hint", chosen.id, "--json", "-"))[1])
        text = answer.get("text")
        if text is None:
            return " ".join(answer["why"])
        later = " The next hint comes when the learner has edited the file." if answer["waits_for_an_edit"] else ""
        return f"Hint {answer['hint']} of {answer['hints']}: {text}{later}"

    async def question(self, exercise: str = "") -> str:
        """Return a question to ask the learner about their last failure, which gives nothing away."""
        course, chosen = self._chosen(exercise)
        title, hints = failure_texts(course, chosen, read_progress(course).of(chosen))
        if not hints:
            return f"No check of {chosen.id} has failed yet, so there is nothing to ask. Check it first."
        return f"The check says: {title}. Ask: {hints[0]}"

    async def lesson(self, exercise: str = "", about: str = "") -> str:
        """Return the lesson of an exercise, without any solution.

        `about` are words to look for: then only the paragraphs that hold all of them are returned.
        """
        course, chosen = self._chosen(exercise)
        passages = passages_of(stub_text(course, chosen) or "")
        words = about.lower().split()
        found = [passage for passage in passages if all(word in passage.lower() for word in words)]
        if not found:
            return f"No passage of {chosen.id} has the words {about!r}."
        text = "\n\n".join(found)
        more = "\n\n(cut here: look for words with `about`)"
        return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}{more}"

    def _chosen(self, exercise: str) -> tuple[Course, Exercise]:
        """Return the exercise that is meant: only a known one reaches a command."""
        from mcp.server.mcpserver.exceptions import ToolError

        course = read_course(self._root)
        try:
            chosen = resolve_exercise(course, exercise) if exercise else read_progress(course).current(course)
        except UsageError as error:
            raise ToolError(str(error)) from None
        if chosen is None:
            raise ToolError("every exercise passes; name one")
        return course, chosen

    async def _course(self, *words: str, also: Sequence[int] = ()) -> tuple[int, str]:
        """Run a command of the course in the learner's folder, and return its exit status and what it printed."""
        from anyio import run_process
        from mcp.server.mcpserver.exceptions import ToolError

        command = [sys.executable, "-m", "autograder", *words]
        environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONUTF8": "1"}
        done = await run_process(command, stdin=DEVNULL, check=False, cwd=self._root, env=environment)
        if done.returncode not in (PASS, *also):
            said = done.stderr.decode("utf-8", "replace").strip()
            raise ToolError(said or f"the command ended with status {done.returncode}")
        return done.returncode, done.stdout.decode("utf-8", "replace")


_MARKDOWN = re.compile(r"^# %% \[markdown\]\n((?:#.*\n?)*)", re.MULTILINE)


def passages_of(stub: str) -> list[str]:
    """Return the paragraphs and tables of a lesson, from its markdown cells, without the marks of comments."""
    cells = [cell[1] for cell in _MARKDOWN.finditer(stub)]
    texts = ["\n".join(line.removeprefix("#").removeprefix(" ") for line in cell.splitlines()) for cell in cells]
    return [passage.strip("\n") for text in texts for passage in text.split("\n\n") if passage.strip()]
