"""JUnit XML as pytest 9 writes it: an exercise is a class, a check is a case, its points are properties."""

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from autograder.instructor.gradebook.feedback import check_text
from autograder.instructor.gradebook.graded import Graded, Mark
from autograder.report.printable import one_line, printable
from autograder.results import CheckResult

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
KINDS = ("failure", "error", "skipped")


def junit(_: Graded, mark: Mark) -> str:
    """Return a report as XML. A check that waits is skipped; only a problem of the grader is an error."""
    report = mark.report
    assert report is not None
    suites = Element("testsuites", name="pytest tests")
    suite = SubElement(suites, "testsuite", name="pytest")
    for exercise in report.exercises:
        for check in exercise.checks:
            _case(suite, exercise.id, check)
    counts = {kind: str(len(suite.findall(f"testcase/{kind}"))) for kind in KINDS}
    suite.set("errors", counts["error"])
    suite.set("failures", counts["failure"])
    suite.set("skipped", counts["skipped"])
    suite.set("tests", str(len(suite)))
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
    properties = SubElement(case, "properties")
    points = {"score": f"{check.score / 100:.2f}", "max_score": f"{check.max_score / 100:.2f}"}
    for key, value in {"title": one_line(check.title), "status": check.status, **points}.items():
        SubElement(properties, "property", name=key, value=_safe(value))
    if check.status == "pass":
        return
    message = _safe(check_text(check))
    kind = {"waits": "skipped", "held": "error", "grader_error": "error"}.get(check.status, "failure")
    outcome = SubElement(case, kind, message=message.split("\n")[0])
    outcome.text = message
    if kind == "skipped":
        outcome.set("type", "pytest.skip")


def _safe(text: str) -> str:
    """Return text without the characters that XML does not allow."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
