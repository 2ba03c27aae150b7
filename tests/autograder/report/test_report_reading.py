"""A report is its JSON: what is written is read back, and a report of an earlier version is read as well."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.results import Certainty, Report, from_json, read_report
from tests.support import report_examples as examples


def test_a_report_is_read_back_whole() -> None:
    whole = examples.report("ada", *examples.EXERCISES.values(), notes=("a note",), log="printed")
    read = from_json(json.loads(json.dumps(whole.to_json())))
    assert read == whole
    assert isinstance(read, Report)


def test_a_report_without_the_newer_fields_is_read() -> None:
    data = json.loads(json.dumps(examples.report("ada", examples.FAIL, examples.PICTURES).to_json()))
    for exercise in data["exercises"]:
        for name in ("built", "pictures", "stood_in"):
            del exercise[name]
        for check in exercise["checks"]:
            finding = check["finding"]
            if finding:
                for name in ("label", "agrees", "certainty"):
                    del finding[name]
                for name in ("witness_title", "axes", "maps"):
                    del finding["evidence"][name]
                for name in ("column", "end"):
                    del finding["place"][name]
    read = from_json(data)
    finding = read.exercises[0].checks[3].finding
    assert finding is not None
    assert finding.evidence is not None
    assert finding.message == examples.UNSCALED.message
    assert finding.certainty is Certainty.DESCRIBED
    assert finding.evidence.maps is None
    assert read.exercises[1] == replace(examples.PICTURES, built=None, pictures=())


@pytest.mark.parametrize("odd", ["[" * 100_000, "{}", '"it"', "[]", "submission", "evidence", "certainty"])
def test_what_is_no_report_is_none(odd: str, tmp_path: Path) -> None:
    data = json.loads(json.dumps(examples.report("ada", examples.FAIL).to_json()))
    data["submission"] = [1] if odd == "submission" else data["submission"]
    finding = data["exercises"][0]["checks"][3]["finding"]
    finding |= {"certainty": "sure"} if odd == "certainty" else {"evidence": [1]}
    file = tmp_path / "report.json"
    file.write_text(json.dumps(data) if odd.isalpha() else odd, "utf-8")
    assert read_report(file) is None


def test_the_levels_of_certainty_are_words_of_the_report_and_in_order() -> None:
    data = examples.report("ada", examples.FAIL).to_json()["exercises"][0]["checks"][3]["finding"]
    assert data["certainty"] == "likely"
    assert [level.value for level in sorted(Certainty)] == ["described", "likely", "alike", "shown"]


def test_numbers_that_are_not_finite_are_none() -> None:
    text = json.dumps(examples.report("ada", examples.WAVES_PASS).to_json()).replace("[0.0,", "[NaN,", 1)
    read = from_json(json.loads(text))
    assert read.exercises[0].pictures[0].values[0][0] is None
