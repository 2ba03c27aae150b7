"""JUnit XML as pytest 9 writes it: an exercise is a class, a check is a case, its points are properties."""

import re
from collections.abc import Mapping
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from autograder.gradebook import Graded, Mark
from autograder.report import DECIDED, check_state, one_line, printable
from autograder.results import CheckResult

from .feedback import check_text, notes
from .formats import Format, each

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
KINDS = ("failure", "error", "skipped")


def junit(graded: Graded, mark: Mark) -> str:
    """Return a report as XML. A check that waits is skipped; only a problem of the grader is an error.

    The suite has the final score as a property: the points of the checks are those before any decision.
    """
    report = mark.report
    assert report is not None
    suites = Element("testsuites", name="pytest tests")
    suite = SubElement(suites, "testsuite", name="pytest")
    if mark.final is not None:
        score = "excused" if mark.excused else "" if mark.score is None else f"{mark.score / 100:.2f}"
        final = {"final": score, "final_max": f"{graded.policy.maximum / 100:.2f}", "notes": "\n".join(notes(mark))}
        _properties(suite, {name: value for name, value in final.items() if value})
    for exercise in report.exercises:
        for check in exercise.checks:
            _case(suite, exercise.id, check)
    counts = {kind: str(len(suite.findall(f"testcase/{kind}"))) for kind in KINDS}
    suite.set("errors", counts["error"])
    suite.set("failures", counts["failure"])
    suite.set("skipped", counts["skipped"])
    suite.set("tests", str(len(suite.findall("testcase"))))
    suite.set("time", f"{sum(check.seconds for exercise in report.exercises for check in exercise.checks):.3f}")
    if mark.final is not None and mark.final.handed_in is not None:
        suite.set("timestamp", mark.final.handed_in.isoformat())
    if report.log.strip():
        SubElement(suite, "system-out").text = _safe(printable(report.log))
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def _case(suite: Element, exercise: str, check: CheckResult) -> None:
    name = f"tests.exercises.test_{exercise}"
    case = SubElement(suite, "testcase", classname=name, name=f"test_{check.id}", time=f"{check.seconds:.3f}")
    points = {"score": f"{check.score / 100:.2f}", "max_score": f"{check.max_score / 100:.2f}"}
    _properties(case, {"title": one_line(check.title), "status": check.status, **points})
    if check.status == "pass":
        return
    message = _safe(check_text(check))
    kind = {"waits": "skipped", "held": "error", "grader_error": "error"}.get(check.status, "failure")
    kind = "skipped" if check_state(check) is DECIDED else kind
    outcome = SubElement(case, kind, message=message.split("\n")[0])
    outcome.text = message
    if kind == "skipped":
        outcome.set("type", "pytest.skip")


def _properties(parent: Element, values: Mapping[str, str]) -> None:
    properties = SubElement(parent, "properties")
    for name, value in values.items():
        SubElement(properties, "property", name=name, value=_safe(value))


def _safe(text: str) -> str:
    """Return text without the characters that XML does not allow."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


FORMATS = (Format("junit", each(junit, ".xml"), of_a_term=True),)
