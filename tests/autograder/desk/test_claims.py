"""What students ask: it is read from texts and mails, matched with a finding, and answered by a decision."""

import mailbox
from email.message import EmailMessage
from pathlib import Path

import pytest

from autograder.course import UsageError
from autograder.desk.worklist import MOST_BYTES, Row, Worklist, claims_in, read_messages
from autograder.gradebook import Adjustment, Adjustments, Mark, Policy, Student, claim_text, final_of
from tests.support import export_examples as classes
from tests.support import tiny

ASKED = f"""Dear teacher,

> - student: bob
> - exercise: {tiny.FIRST}
> - check: values
> - my question: Why is that wrong?
It passes here.
--
Bob
"""


def read(tmp_path: Path, *texts: str) -> Worklist:
    """Return a class with these texts in the folder of claims."""
    course = classes.graded_class(tmp_path)
    folder = tmp_path / "claims"
    folder.mkdir()
    for at, text in enumerate(texts, 1):
        (folder / f"{at}.txt").write_text(text, "utf-8")
    worklist = Worklist(course, tmp_path / "out", claims=folder)
    worklist.refresh()
    return worklist


def test_the_lines_of_the_feedback_page_are_read_back(tmp_path: Path) -> None:
    course = classes.graded_class(tmp_path)
    mark = next(mark for mark in classes.read(course).marks if mark.student == "bob")
    exercise = mark.report.exercises[0]
    text = claim_text(mark, exercise, exercise.checks[0])
    assert text.startswith(f"- student: bob\n- exercise: {tiny.FIRST}\n- check: values\n- report: ")
    (tmp_path / "claims.md").write_text(f"{text} And why?\n", "utf-8")
    worklist = Worklist(course, tmp_path / "out", claims=tmp_path / "claims.md")
    worklist.refresh()
    [claim] = worklist.find("", "bob").claims
    assert (claim.exercise, claim.check, claim.question, claim.notes) == (tiny.FIRST, "values", "And why?", ())
    assert worklist.unmatched == ()


def test_a_question_ends_before_the_signature_and_may_be_quoted() -> None:
    [claim] = claims_in(ASKED)
    assert claim["my question"] == "Why is that wrong?\nIt passes here."
    assert claims_in(f"{ASKED}\n{ASKED}") == [claim, claim]
    assert claims_in(ASKED.replace("> ", "")) == claims_in(f"> {ASKED}".replace("\n", "\n> ")) == [claim]
    own = ASKED.replace("It passes here.", "check: why does this line count?")
    assert claims_in(own)[0]["my question"] == "Why is that wrong?\ncheck: why does this line count?"
    assert claims_in("Hello") == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Hello", "it has no line like"),
        ("student: bob\nexercise: 1", "it has no check"),
        ("student: bob\ncheck: values\nmy question: why", "it has no exercise"),
        ("student: bob", "it has no my question"),
        ("student: bot\nexercise: 1\ncheck: values", "there is no student bot; did you mean bob?"),
        ("student: bob\nexercise: 77\ncheck: values", "77"),
        ("student: bob\nexercise: 1\ncheck: value", "has no check value; did you mean values?"),
        ("student: zoe\nexercise: 1\ncheck: values", "there is no report of zoe"),
    ],
)
def test_what_cannot_be_matched_is_listed_with_the_reason(tmp_path: Path, text: str, reason: str) -> None:
    worklist = read(tmp_path, text)
    [(source, why)] = worklist.unmatched
    assert source == "1.txt"
    assert reason in why
    assert all(row.claims == () for row in worklist.rows)


def test_a_student_may_ask_about_the_whole_hand_in(tmp_path: Path) -> None:
    course = classes.graded_class(tmp_path)
    mark = next(mark for mark in classes.read(course).marks if mark.student == "ada")
    (tmp_path / "claims.md").write_text(
        f"{claim_text(mark)} Why late?\n- student: zoe\n- my question: I sent it by mail.\n", "utf-8"
    )
    worklist = Worklist(course, tmp_path / "out", claims=tmp_path / "claims.md")
    worklist.refresh()
    assert worklist.unmatched == ()
    [claim] = worklist.find("", "ada").claims
    assert (claim.exercise, claim.check, claim.question, claim.notes) == ("*", "", "Why late?", ())
    [missing] = worklist.find("", "zoe").claims
    assert missing.question == "I sent it by mail."
    columns = "student,exercise,kind,value,text,by,when\n"
    answer = "ada,*,comment,,Your question about the hand-in: the clock was wrong.,Grace,2026-03-05 10:00\n"
    (course / "adjustments.csv").write_text(columns + answer, "utf-8")
    worklist.refresh()
    assert worklist.find("", "ada").open_claims == ()
    with (tmp_path / "claims.md").open("a", encoding="utf-8") as file:
        file.write(f"{claim_text(mark)} And the week before?\n")
    worklist.refresh()
    [second] = worklist.find("", "ada").open_claims
    assert second.question == "And the week before?", "each question needs an answer of its own"
    again = answer.replace("the clock was wrong", "that one too").replace("10:00", "11:00")
    (course / "adjustments.csv").write_text(columns + answer + again, "utf-8")
    worklist.refresh()
    assert worklist.find("", "ada").open_claims == ()


def test_a_claim_by_a_pseudonym_of_the_class_page_is_joined_to_its_student(tmp_path: Path) -> None:
    worklist = read(tmp_path, ASKED.replace("bob", "b2c3"), "student: D4F5\nexercise: 1\ncheck: values")
    assert [why.partition(";")[0] for _, why in worklist.unmatched] == [
        "there is no student b2c3",
        "there is no student D4F5",
    ]
    file = tmp_path / "out" / "pseudonyms.csv"
    file.write_text("pseudonym,student\nB2C3,bob\nD4F5,gone\n", "utf-8")
    worklist.refresh()
    [claim] = worklist.find("", "bob").claims
    assert (claim.student, claim.notes) == ("bob", ("It has the pseudonym b2c3.",))
    [(source, why)] = worklist.unmatched
    assert (source, why) == ("2.txt", f"there is no report of gone with {tiny.FIRST}")
    file.write_text("pseudonym\n", "utf-8")
    worklist.refresh()
    assert "pseudonyms.csv is damaged (its first line)" in worklist.unmatched[0][1]


def test_a_pseudonym_of_two_students_in_a_term_is_not_guessed(tmp_path: Path) -> None:
    worklist = read(tmp_path, ASKED.replace("bob", "B2C3"))
    (tmp_path / "other").mkdir()
    worklist._folders["other"] = tmp_path / "other"
    for folder, student in (("out", "bob"), ("other", "ada")):
        (tmp_path / folder / "pseudonyms.csv").write_text(f"pseudonym,student\nB2C3,{student}\n", "utf-8")
    worklist.refresh()
    [(_, why)] = worklist.unmatched
    assert why == "B2C3 is the pseudonym of ada and bob in different assignments; write the id"


def test_a_folder_lists_files_that_cannot_be_read_and_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "large.txt").write_bytes(b"x" * (MOST_BYTES + 1))
    (tmp_path / "link.txt").symlink_to("/etc/passwd")
    (tmp_path / "folder").mkdir()
    problems = {message.source: message.problem for message in read_messages(tmp_path)}
    assert problems.keys() == {"large.txt", "link.txt", "folder"}
    assert all(problems.values())
    with pytest.raises(UsageError, match="is not there"):
        read_messages(tmp_path / "nowhere")


def test_messages_beyond_the_limit_are_counted_and_new_files_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.desk.worklist.MOST_MESSAGES", 2)
    worklist = read(tmp_path, *[ASKED.replace("Why", f"Why {at}") for at in range(2)])
    assert worklist.unmatched == ()
    (tmp_path / "claims" / "3.txt").write_text(ASKED, "utf-8")
    worklist.refresh()
    assert worklist.unmatched == (("claims", "it has 3 messages, and the first 2 were read; split it"),)
    assert len(worklist.find("", "bob").claims) == 2
    assert worklist.notes == ("1 question could not be matched: see Questions.",)


def test_an_mbox_is_read_with_its_senders(tmp_path: Path) -> None:
    box = mailbox.mbox(tmp_path / "mails.mbox")
    for sender, subtype in (
        ("bob@example.org", "plain"),
        ("mallory@example.org", "plain"),
        ("eve@example.org", "html"),
    ):
        mail = EmailMessage()
        mail["From"] = f"Somebody <{sender}>"
        mail.set_content(f"{ASKED}{sender}", subtype=subtype)
        box.add(mail)
    box.close()
    before = (tmp_path / "mails.mbox").read_bytes()
    worklist = Worklist(classes.graded_class(tmp_path), tmp_path / "out", claims=tmp_path / "mails.mbox")
    worklist.refresh()
    [claim] = worklist.find("", "bob").claims  # the second mail quotes the first
    assert claim.source == "mails.mbox, message 1"
    [(source, why)] = worklist.unmatched
    assert (source, why) == ("mails.mbox, message 3", "it has no part in plain text")
    assert (tmp_path / "mails.mbox").read_bytes() == before
    mails = read_messages(tmp_path / "mails.mbox")
    assert [mail.sender for mail in mails] == ["bob@example.org", "mallory@example.org", "eve@example.org"]


def test_a_claim_of_an_earlier_report_or_another_sender_has_a_note(tmp_path: Path) -> None:
    course = classes.graded_class(tmp_path)
    mail = f"From: M <mallory@example.org>\n\nstudent: bob\nexercise: {tiny.FIRST}\ncheck: axes\nreport: 123\n"
    (tmp_path / "one.eml").write_text(mail, "utf-8")
    worklist = Worklist(course, tmp_path / "out", claims=tmp_path / "one.eml")
    worklist.refresh()
    [claim] = worklist.find("", "bob").claims
    assert claim.notes == (
        "It is about an earlier report.",
        "It asks nothing: the question is empty.",
        "It was sent from mallory@example.org, and the roster has bob@example.org.",
    )


def test_a_claim_is_open_until_a_decision_answers_it(tmp_path: Path) -> None:
    worklist = read(tmp_path, ASKED)
    row = worklist.find("", "bob")
    assert "asks" in row.states
    assert len(row.open_claims) == 1
    columns = "student,exercise,kind,value,text,by,when\n"
    answer = f"bob,{tiny.FIRST},comment,,Your question about values: the sum is not divided.,Grace,2026-03-05 10:00\n"
    (tmp_path / "course" / "adjustments.csv").write_text(columns + answer, "utf-8")
    worklist.refresh()
    row = worklist.find("", "bob")
    assert row.open_claims == ()
    assert len(row.claims) == 1
    assert "asks" not in row.states


def test_an_imported_time_and_one_for_everybody_are_no_decision_about_a_student() -> None:
    def states(kind: str, text: str = "why", student: str = "ada") -> frozenset[str]:
        made = Adjustment(student, "*", kind, "", text, "Grace", "2026-03-05 10:00")
        return Row(
            "", Mark(Student("ada"), None, final_of(Policy(adjustments=Adjustments((made,))), "ada", None, None))
        ).states

    assert "decided" not in states("handed_in", "the time in week1")
    assert "decided" in states("handed_in")
    assert "decided" in states("comment")
    assert "decided" not in states("comment", student="*")
