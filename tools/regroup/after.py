import re, subprocess, sys
from pathlib import Path
R = Path("."); A = R / "autograder"
bad = 0
def sub(file, *pairs):
    global bad
    p = R / file; t = p.read_text()
    for a, b in pairs:
        if a not in t: print("POST: not found", file, repr(a)[:90]); bad += 1
        t = t.replace(a, b)
    p.write_text(t)
def resub(file, *pairs):
    global bad
    p = R / file; t = p.read_text()
    for a, b in pairs:
        t, n = re.subn(a, b, t, flags=re.S)
        if not n: print("POST: not found", file, a[:90]); bad += 1
    p.write_text(t)
(A / "faces.py").write_text((Path(__file__).parent / "faces.py").read_text())
subprocess.run("mkdir -p autograder/exports; git mv -k autograder/instructor/gradebook/scripts autograder/exports/scripts; rmdir autograder/instructor/gradebook 2>/dev/null", shell=True)
# detectors: functions, not modules
p = A / "diagnosis/differences.py"; t = p.read_text()
t = re.sub(r"^from autograder.diagnosis import arrangement as.*\n", "", t, flags=re.M)
def names(m):
    inside = re.sub(r"\b([a-z_]+)\b", r"detect_\1", m.group(2)); return m.group(1) + inside + ")"
t = re.sub(r"(_(?:NEAR|CHEAP|ALL) = \()([^)]*)\)", names, t)
t = t.replace("        yield from detector.detect(case)", "        yield from detect(case)").replace("for detector in _NEAR", "for detect in _NEAR")
t = t.replace("from autograder.diagnosis.masks import detect_softmax_weights\n", "from autograder.diagnosis.masks import detect_masks, detect_softmax_weights\n")
t = t.replace("from autograder.diagnosis.special import AllZero, detect_dtype\n", "from autograder.diagnosis.special import AllZero, detect_dtype, detect_precision, detect_special\nfrom autograder.diagnosis.arrangement import detect_along, detect_rearrangement, detect_regions\nfrom autograder.diagnosis.values import detect_dropout, detect_elementwise, detect_known, detect_scaled\n")
p.write_text(t)
sub("autograder/diagnosis/differences.py", ("for detect in _NEAR", "for detect in _NEAR"))
# programs and folders
sub("autograder/sandbox/channels.py", ('KIT = Path(__file__).parents[2]', 'KIT = Path(__file__).parents[1]'), ('KIT / "worker" / "sandbox" / "zygote.py"', 'KIT / "sandbox" / "confined" / "zygote.py"'), ('KIT / "worker" / "sandbox" / "staging.py"', 'KIT / "sandbox" / "confined" / "staging.py"'), ("worker/sandbox/staging.py", "sandbox/confined/staging.py"), ("worker/sandbox/relay.py", "sandbox/confined/relay.py"))
sub("autograder/sandbox/isolation.py", ("worker/sandbox/zygote.py", "sandbox/confined/zygote.py"))
sub("autograder/protocol/agreements.py", ('("__init__.py", "checks", "edits", "protocol", "worker")', '(\n    *("__init__.py", "faces.py", "checks", "edits", "protocol", "worker"),\n    *("sandbox/__init__.py", "sandbox/confined"),\n)'))
sub("autograder/instructor/bulk.py", ("parents[2]", "parents[1]"))
sub("autograder/play/__main__.py", ("parents[3]", "parents[2]"))
sub("autograder/notebook/asking.py", ("parents[3]", "parents[2]"))
sub("autograder/practice/testing.py", ("parents[3]", "parents[2]"))
# digests: rooms, not paths
resub("autograder/course/suite.py",
 (r'JUDGES = \(.*?\n\)\n""".*?"""', '''JUDGES = (
    *("checks", "protocol", "edits", "worker", "sandbox", "runner", "comparison", "answer_key", "results"),
    *("diagnosis", "judge", "course/suite.py"),
)
"""The rooms that make and judge observations: verdicts depend on their code, so it is part of every digest."""'''),
 (r'def engine_digest\(\*patterns: str\) -> bytes:.*?return digest.digest\(\)\n', '''def files_of_rooms(*rooms: str) -> list[Path]:
    """Return the engine's files in these rooms or modules, or in `JUDGES`."""
    package = Path(__file__).parents[1]
    found = [[package / room] if room.endswith(".py") else (package / room).rglob("*.py") for room in rooms or JUDGES]
    return [file for files in found for file in files]


def engine_digest(*rooms: str) -> bytes:
    """Return the digest of the engine's code in these rooms, or in `JUDGES`. No path is part of it."""
    contents = sorted(hashlib.sha256(file.read_bytes()).digest() for file in files_of_rooms(*rooms))
    return hashlib.sha256(b"".join(contents)).digest()
'''))
resub("autograder/answer_key/keys.py", (r'MAKES_KEYS = \(.*?\n\)\n', '''MAKES_KEYS = (
    *("checks", "protocol", "worker", "runner", "answer_key", "edits/search.py"),
    *("comparison/arrays.py", "comparison/compare.py", "comparison/sketches.py"),
)
'''))
resub("autograder/authoring/mutation.py", (r'engine_digest\("authoring/mutation/\*.py", "edits/\*.py"\)', 'engine_digest("authoring", "edits")'))
sub("autograder/cli/screen.py", ("for number, answer in enumerate(answers, 1):\n            self.text(answer, label=str(number))", "for at, answer in enumerate(answers, 1):\n            self.text(answer, label=str(at))"))
sub("autograder/authoring/witness.py", ('for field in ("body", "orelse", "finalbody"):\n            yield from _statements(getattr(statement, field, []), is_off or turned)', 'for block in ("body", "orelse", "finalbody"):\n            yield from _statements(getattr(statement, block, []), is_off or turned)'))
resub("autograder/answer_key/released.py", (r"return sorted\(file for pattern in MAKES_KEYS for file in ENGINE.glob\(pattern\)\)", "return sorted(files_of_rooms(*MAKES_KEYS))"), (r"\nif TYPE_CHECKING:\n", "\nfrom autograder.course import files_of_rooms\n\nif TYPE_CHECKING:\n"))
p = A / "course/__init__.py"; p.write_text(p.read_text().replace("engine_digest", "engine_digest, files_of_rooms"))
sub("autograder/judge/verdict.py", ("            from autograder.diagnosis import EarlierUnwritten\n", ""), ("from autograder.answer_key import", "from autograder.diagnosis import EarlierUnwritten\nfrom autograder.answer_key import"))
sub("autograder/sandbox/confined/zygote.py", ('for name in ("session", "sandbox.canaries", "sandbox.layers"):\n        importlib.import_module(f"autograder.worker.{name}")', 'for name in ("worker.session", "sandbox.confined.canaries", "sandbox.confined.layers"):\n        importlib.import_module(f"autograder.{name}")'))
# the notebook's face starts to record when it is imported
(A / "notebook/__init__.py").write_text('''"""The functions for a notebook of the course: `from autograder.notebook import check, hint, status, why`.

Importing this makes `from exNN_name import ...` find earlier exercises, in files or notebooks.
"""

from autograder.notebook.asking import check, hint, status, why
from autograder.notebook.cells import begin_to_record, find_earlier_exercises

find_earlier_exercises()
begin_to_record()

__all__ = ["check", "hint", "status", "why"]
''')
(A / "cli/commands.py").write_text((A / "cli/commands.py").read_text().replace('"init.', '"new.').replace('"trust.', '"program.'))
# configuration
sub("pyproject.toml", ('module = ["autograder.instructor.grading.cluster", "autograder.instructor.gradebook.nbgrader_parts"]' if "gradebook.nbgrader_parts" in (R/"pyproject.toml").read_text() else 'module = ["autograder.instructor.cluster", "autograder.exports.nbgrader"]', 'module = ["autograder.instructor.cluster", "autograder.exports.nbgrader"]'))
t = (R / "pyproject.toml").read_text()
rooms = sorted(d.name for d in A.iterdir() if (d / "__init__.py").is_file() and "faces" in (d / "__init__.py").read_text())
t = t.replace('[tool.ruff]\n', '[[tool.mypy.overrides]]\nmodule = [\n' + "".join(f'    "autograder.{r}",\n' for r in rooms) + ']\nimplicit_reexport = true  # the face of a room\n\n[tool.ruff]\n', 1)
t = t.replace('[tool.ruff.lint.per-file-ignores]\n', '[tool.ruff.lint.per-file-ignores]\n"autograder/*/__init__.py" = ["F401"]  # the face of a room\n')
(R / "pyproject.toml").write_text(t)

# imports of the own room are relative; programs that are started by their path keep absolute ones
import ast
PROGRAMS = {"sandbox/confined/zygote.py", "sandbox/confined/relay.py", "sandbox/confined/staging.py", "worker/__main__.py", "play/__main__.py"}
def hoist(file, *functions):
    """Move the engine's imports in these functions to the top of the module."""
    global bad
    f = A / file; text = f.read_text(); tree = ast.parse(text); lines = text.splitlines(True)
    out, drop = [], set()
    for fn in ast.walk(tree):
        if isinstance(fn, ast.FunctionDef) and fn.name in functions:
            for n in ast.walk(fn):
                if isinstance(n, ast.ImportFrom) and (n.module or "").startswith("autograder"):
                    out.append(ast.unparse(n)); drop.update(range(n.lineno, n.end_lineno + 1))
    if not out: print("HOIST: nothing", file, functions); bad += 1; return
    last = [n for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom))][-1].end_lineno
    kept = []
    for i, l in enumerate(lines, 1):
        if i in drop: continue
        if kept and kept[-1].strip() == "" and l.strip() == "" and i - 1 in drop: continue
        kept.append(l)
        if i == last: kept.append("\n".join(out) + "\n")
    f.write_text("".join(kept))
hoist("judge/verdict.py", "_is_complete", "_of_structure", "_of_forbidden", "_waiting", "missing", "unread", "held", "grader_error")
hoist("comparison/compare.py", "_unexpected", "_of_another_length", "_raises", "_custom")
hoist("exports/formats.py", "_scores", "_fill", "_gradescope", "_classroom50", "_feedback", "_archive", "_gradescope_autograder", "_classroom50_autograder", "_prairielearn_grader")
hoist("cli/why.py", "show_why")
hoist("cli/diff.py", "_show_prints", "_show_evidence")
hoist("cli/report.py", "show_report")
hoist("learner/own_files.py", "read_stub")
hoist("play/process.py", "reason")
hoist("report/terminal.py", "render_class", "render_exercise", "render_report")
hoist("cli/adjust.py", "_new_rows")
hoist("exports/formats.py", "_nbgrader_course")
hoist("learner/checking.py", "encouragement")
for f in A.rglob("*.py"):
    rel = f.relative_to(A).as_posix()
    if rel in PROGRAMS or "/" not in rel or rel.startswith("authoring/skeleton"): continue
    pkg = "autograder." + ".".join(f.relative_to(A).parts[:-1])
    text = f.read_text()
    new = re.sub(rf"^( *)from {re.escape(pkg)}\.([a-z]\w*) import", r"\1from .\2 import", text, flags=re.M)
    if new != text: f.write_text(new)
# tests follow the rooms
T = R / "tests/autograder"
moves = {}
def mv(pattern, room):
    for f in sorted(T.glob(pattern)):
        if f.name == "__pycache__" or f.suffix == ".pyc": continue
        to = T / room / f.name
        assert not to.exists(), to
        to.parent.mkdir(exist_ok=True)
        subprocess.run(["git", "mv", "-k", str(f), str(to)], check=True)
        if f.exists(): f.rename(to)
        moves[f"tests/autograder/{f.relative_to(T).as_posix()}"] = f"tests/autograder/{room}/{f.name}"
for a, b in (("messages/*", "diagnosis"), ("runner/test_sandbox.py", "sandbox"), ("learner/test_editor*.py", "editor"), ("learner/test_notebook_*.py", "notebook"), ("learner/test_play*.py", "play"), ("learner/test_practice.py", "practice"),
             ("instructor/test_export*.py", "exports"), ("instructor/test_feedback_*.py", "exports"), ("instructor/test_nbgrader_commands.py", "exports")): mv(a, b)
subprocess.run("git mv -k autograder/sandbox/confined/Containerfile autograder/sandbox/confined/Containerfile; rm -rf autograder/worker/sandbox tests/autograder/messages", shell=True)
for a_, b_ in list(moves.items()):
    if a_.endswith(".py"): moves[a_[:-3].replace("/", ".")] = b_[:-3].replace("/", ".")
extra = {"autograder/sandbox/confined/": "autograder/sandbox/confined/", "autograder/exports`": "autograder/exports`"}
for f in subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True).stdout.split("\n"):
    q = R / f
    if not f or not q.is_file() or q.suffix in (".ipynb", ".svg", ".png", ".zip", ".json"): continue
    try: t = q.read_text()
    except UnicodeDecodeError: continue
    n = t
    for a, b in {**moves, **extra}.items(): n = n.replace(a, b)
    if n != t: q.write_text(n)
print("post done, problems:", bad)
exec((Path(__file__).parent / "boundaries.py").read_text())
sub("tests/autograder/learner/test_progress.py", ('    monkeypatch.setattr(event_lines, "MOST_BYTES", 8 << 10)\n', '    monkeypatch.setattr(store, "MOST_BYTES", 8 << 10)\n'))
sub("docs/authoring.md", ("right numbers in another order and so on. `autograder/authoring/programs.py` lists these families. The\ncommand prints the points that each family earns, and fails if one earns any. If an empty program\npasses a check:", "right numbers in another order and so on. `autograder/authoring/programs.py` lists these families.\nThe command prints the points that each family earns, and fails if one earns any. If an empty\nprogram passes a check:"))
