"""The real `course lsp`, with a client that speaks the protocol to it."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

from autograder.progress import read_progress
from tests.support import tiny
from tests.support.editing import PATIENCE, Editor
from tests.support.watching import saved

pytestmark = pytest.mark.worker

WRONG = tiny.mean_with("return x.cumsum(dim=-1)")
LAST = "return x.cumsum(dim=-1) / (count + 1)"
UNKNOWN = tiny.mean_with(LAST)
LINE = UNKNOWN.split("\n").index(f"    {LAST}")
BROKEN = tiny.mean_with("return (x.cumsum(dim=-1)")
ALL = {"start": {"line": 0, "character": 0}, "end": {"line": 500, "character": 0}}


def titles(lenses: list[dict[str, Any]]) -> list[str]:
    return [lens["command"]["title"] for lens in lenses]


def only(found: list[dict[str, Any]]) -> dict[str, Any]:
    assert len(found) == 1, found
    return found[0]


def at(line: int, diagnostics: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    position = {"line": line, "character": 0}
    return {"range": {"start": position, "end": position}, "context": {"diagnostics": diagnostics or []}}


def refreshed(editor: Editor) -> None:
    """Wait until the editor was asked twice to update the shapes: after the verdict, and after the shapes."""
    for _ in range(2):
        while editor.refreshed.get(timeout=PATIENCE) != "workspace/inlayHint/refresh":
            pass


def test_a_session_from_the_stub_to_a_pass(course: Path) -> None:
    with Editor(course) as editor:
        editor.open()
        stub = only(editor.next_diagnostics())
        assert stub["severity"] == 3
        assert "You have not written anything yet." in stub["message"]
        assert titles(editor.on_document("codeLens"))[1] == "○ to write: show how to begin"

        editor.save(WRONG)
        wrong = only(editor.next_diagnostics())
        assert wrong["message"].startswith("The running sum is not divided.")
        assert (wrong["severity"], wrong["source"]) == (1, "course")
        assert titles(editor.on_document("codeLens")) == [
            "01 running mean: FAIL, 0 of 4 checks pass",
            "✗ running_mean (0 of 3 checks)",
        ]

        editor.save(BROKEN)
        assert "was never closed" in only(editor.next_diagnostics())["message"]

        editor.save(tiny.MEAN)
        assert editor.next_diagnostics() == []
        assert titles(editor.on_document("codeLens"))[1] == "✓ running_mean (3 checks)"
        assert editor.quit() == 0
    standing = read_progress(tiny.course_at(course)).standings[tiny.FIRST]
    assert standing.status == "pass"


RECORD = [
    ("editor", "initialize"),
    ("server", "answer"),
    ("editor", "initialized"),
    ("editor", "textDocument/didOpen"),
    ("server", "textDocument/publishDiagnostics"),
    ("editor", "textDocument/didChange"),
    ("editor", "textDocument/didSave"),
    ("server", "textDocument/publishDiagnostics"),
    ("editor", "textDocument/codeLens"),
    ("server", "answer"),
    ("editor", "shutdown"),
    ("server", "answer"),
    ("editor", "exit"),
]
"""A session as it was recorded, without the log, progress, and requests to refresh."""

ASIDE = ("window/", "$/", "workspace/")


def test_the_messages_of_a_session_are_those_recorded(course: Path) -> None:
    saved(course, tiny.MEAN)
    with Editor(course) as editor:
        editor.open()
        assert editor.next_diagnostics() == []
        editor.save(BROKEN)
        only(editor.next_diagnostics())
        editor.on_document("codeLens")
        assert editor.quit() == 0
        answers = [at for at, (_, method) in enumerate(editor.record) if method.startswith(ASIDE)]
        asked = sum(editor.record[at][1].endswith(("refresh", "create")) for at in answers)
        record = [entry for entry in editor.record if not entry[1].startswith(ASIDE)]
    for _ in range(asked):  # the editor answers these
        record.remove(("editor", "answer"))
    assert record == RECORD


def test_a_proof_comes_after_the_verdict_and_keeps_the_line(course: Path) -> None:
    saved(course, UNKNOWN)
    with Editor(course) as editor:
        editor.open()
        first, second = only(editor.next_diagnostics()), only(editor.next_diagnostics())
        assert first["range"] == second["range"]
        assert first["range"]["start"]["line"] == LINE
        assert "makes this check pass" in second["message"]
        related = [one["message"] for one in second["relatedInformation"]]
        assert any(text.startswith("At 0: expected ") for text in related)


def test_shapes_of_a_pass_and_none_for_an_edited_line(course: Path) -> None:
    saved(course, tiny.MEAN)
    with Editor(course) as editor:
        editor.open()
        assert editor.next_diagnostics() == []
        refreshed(editor)
        hints = editor.on_document("inlayHint", range=ALL)
        line = tiny.MEAN.split("\n").index(tiny.RUNNING)
        assert {hint["position"]["line"]: hint["label"] for hint in hints}[line] == "(5,)"
        document = {"uri": editor.uri(), "version": 2}
        changed = tiny.MEAN.replace(tiny.RUNNING, "    return x")
        editor.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": changed}]})
        hints = editor.on_document("inlayHint", range=ALL)
        assert line not in {hint["position"]["line"] for hint in hints}


def test_actions_explain_help_and_reset(course: Path) -> None:
    saved(course, WRONG)
    with Editor(course, answers=("Show it now",)) as editor:
        editor.open()
        found = editor.next_diagnostics()
        line = found[0]["range"]["start"]["line"]
        actions = editor.on_document("codeAction", **at(line, found))
        assert [action["title"] for action in actions] == [
            "Show hint 2 of 3",
            "Why: the running sum is not divided",
            "Open the lesson",
            "Check this exercise again",
            "Reset running_mean to the stub",
        ]
        assert all(action["diagnostics"] for action in actions[:4])
        edit = only(actions[4]["edit"]["changes"][editor.uri()])
        assert "raise NotImplementedError" in edit["newText"]

        def run(action: dict[str, Any]) -> None:
            editor.request("workspace/executeCommand", {k: action["command"][k] for k in ("command", "arguments")})

        assert "\nHint: " in found[0]["message"], "the first hint comes with the failure"
        run(actions[0])
        assert "Hint 2 comes after you edit" in editor.next_message()
        assert editor.next_message().startswith("Hint 2 of 3: ")
        assert editor.on_document("codeAction", **at(line, found))[0]["title"] == "Show hint 3 of 3"
        run(actions[1])
        assert "A mean is the sum divided by how many numbers there are." in editor.next_message()
        run(actions[2])
        assert editor.documents[0]["uri"] == editor.uri()
        quick = at(line, found)
        quick["context"]["only"] = ["refactor"]
        assert [one["kind"] for one in editor.on_document("codeAction", **quick)] == ["refactor"]
        (course / "exercises" / tiny.FILES[0]).write_text(WRONG, "utf-8")
        run(actions[3])
        refreshed(editor)
        assert editor.quit() == 0


def test_another_exercise_is_checked_when_it_is_opened_or_saved(course: Path) -> None:
    saved(course, WRONG)
    with Editor(course) as editor:
        editor.open(tiny.FILES[0])
        editor.open(tiny.FILES[1])
        uris = {editor.diagnostics.get(timeout=PATIENCE)[0] for _ in range(2)}
        assert uris == {editor.uri(tiny.FILES[0]), editor.uri(tiny.FILES[1])}
        editor.save(tiny.MEAN, tiny.FILES[0])
        assert editor.diagnostics.get(timeout=PATIENCE) == (editor.uri(tiny.FILES[0]), [])
        editor.save(tiny.POWER, tiny.FILES[1])
        assert editor.diagnostics.get(timeout=PATIENCE) == (editor.uri(tiny.FILES[1]), [])


def test_a_deleted_file_loses_its_diagnostics_and_an_unreadable_one_says_why(course: Path) -> None:
    saved(course, WRONG)
    file = course / "exercises" / tiny.FILES[0]
    with Editor(course) as editor:
        editor.open()
        only(editor.next_diagnostics())
        file.unlink()
        assert editor.next_diagnostics() == []
        saved(course, "#" * 300_000)
        assert "waiting" not in only(editor.next_diagnostics())["message"]
        saved(course, tiny.MEAN)
        assert editor.next_diagnostics() == []


def test_other_files_and_other_folders_are_ignored(course: Path, tmp_path: Path) -> None:
    other = tmp_path / "notes.py"
    other.write_text("x = 1\n", "utf-8")
    with Editor(course) as editor:
        for uri in (other.as_uri(), (course / "solutions" / tiny.FILES[0]).as_uri(), "untitled:Untitled-1"):
            document = {"uri": uri, "languageId": "python", "version": 1, "text": "x = 1\n"}
            editor.notify("textDocument/didOpen", {"textDocument": document})
            parameters = {"textDocument": {"uri": uri}}
            assert editor.request("textDocument/codeLens", parameters) == []
            assert editor.request("textDocument/codeAction", {**parameters, **at(0)}) == []
        editor.open()
        assert only(editor.next_diagnostics())["severity"] == 3


def test_a_course_that_cannot_be_checked_says_why(course: Path) -> None:
    checks = course / "tests" / "exercises" / f"test_{tiny.FILES[0]}"
    checks.write_text("def (", "utf-8")
    with Editor(course) as editor:
        editor.open()
        assert editor.next_message().startswith("The exercises cannot be checked: ")
        editor.save(WRONG)
        assert editor.next_message().startswith("The exercises cannot be checked: ")
        assert editor.quit() == 0
    (course / "course.toml").write_text("title = 1\n", "utf-8")
    with Editor(course) as editor:
        editor.open()
        assert "course.toml" in editor.next_message()


def test_an_unknown_course_runs_only_after_the_user_trusts_it(course: Path, tmp_path: Path) -> None:
    home = {"COURSE_TRUST": "", "XDG_CONFIG_HOME": str(tmp_path / "config")}
    with Editor(course, **home) as editor:
        editor.open()
        assert "Do you trust this folder?" in editor.next_message()
        assert editor.on_document("codeLens") == []
    with Editor(course, answers=("Trust this course",), **home) as editor:
        editor.open()
        editor.next_message()
        assert only(editor.next_diagnostics())["severity"] == 3
    assert str(course.resolve()) in json.loads((tmp_path / "config" / "course" / "trusted.json").read_text())["folders"]


def test_it_ends_with_its_editor_and_on_a_signal(course: Path) -> None:
    with Editor(course) as editor:
        editor.open()
        editor.next_diagnostics()
        assert editor.disappear() == 0
    with Editor(course) as editor:
        editor.open()
        editor.next_diagnostics()
        editor.process.send_signal(signal.SIGTERM)
        assert editor.process.wait(PATIENCE) == 128 + signal.SIGTERM


def test_what_a_program_prints_is_no_message_of_the_protocol(course: Path) -> None:
    saved(course, f"print('Content-Length: 5')\n{WRONG}")
    with Editor(course) as editor:
        editor.open()
        assert "The running sum is not divided." in only(editor.next_diagnostics())["message"]
        assert editor.quit() == 0


def test_without_pygls_the_extra_is_named(course: Path, tmp_path: Path) -> None:
    (tmp_path / "pygls.py").write_text("raise ImportError\n", "utf-8")
    path = f"{tmp_path}:{tiny.REPOSITORY}"
    ended = tiny.run_course(course, "lsp", PYTHONPATH=path)
    assert ended.returncode == 2
    assert "pip install pygls" in ended.stderr


HEADERS = {
    "too much": b"Content-Length: 9999999999\r\n\r\n{}",
    "control characters": b"Content-Length: \x1b[2J\r\n\r\n{}",
    "endless": b"X" * (32 << 20),
}


@pytest.mark.parametrize("header", HEADERS)
def test_a_message_with_an_absurd_header_ends_the_server_with_a_sentence(course: Path, header: str) -> None:
    command = [sys.executable, *tiny.PROGRAM, "lsp"]
    done = subprocess.run(command, cwd=course, input=HEADERS[header], capture_output=True, timeout=120, check=False)
    assert done.returncode == 2
    [line] = done.stderr.decode().splitlines()
    assert line.startswith("course: the editor sent a message with ")
    assert line.endswith("expected `Content-Length: ` and a number of bytes, from 1 to 67108864")
    assert line.isprintable()
    assert not done.stdout


def test_an_editor_that_ends_in_the_middle_of_a_message_ends_the_server(course: Path) -> None:
    command = [sys.executable, *tiny.PROGRAM, "lsp"]
    cut = b"Content-Length: 5000\r\n\r\n{}"
    done = subprocess.run(command, cwd=course, input=cut, capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
