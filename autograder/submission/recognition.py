"""Which layout a download has: the one that all its entries agree on, never one that a single entry suggests.

Names that platforms give are seen at a glance, so one entry that has or lacks them makes the folder a mixture, which
is refused. What lies *in* an entry is its student's: `.git` and timestamp.txt count where they are in every entry,
are a student's own affair where they are in the fewer half, and else make a mixture.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from autograder.submission import canvas, moodle
from autograder.submission.folder import kind_of
from autograder.submission.found import FileError, SubmissionError, shown
from autograder.submission.layouts import WORK, may_be_work
from autograder.submission.top import Item, Names, Outline, Top

_NAMED = 5
"""So many entries are named in a message, and the others counted."""

STAMP = "timestamp.txt"


@dataclass(frozen=True)
class _Sign:
    """How the entries of a layout are known, and the same in words."""

    layout: str
    fits: Callable[[Item], bool]
    words: str
    denied: str


@dataclass(frozen=True)
class _Agreement:
    """Which entries have the sign of a layout, which have not, and which are copies of the download itself."""

    sign: _Sign
    fitting: Sequence[Item]
    odd: Sequence[Item]
    copies: Sequence[Item]

    @property
    def is_whole(self) -> bool:
        return bool(self.fitting) and not self.odd


def recognise(top: Top) -> tuple[str, Top]:
    """Return the layout that all entries have, and what lies there without copies of the download.

    Raises `SubmissionError` where some of them have one, and others have not.
    """
    named = [_agreement(top, sign) for sign in _BY_NAME]
    whole = [each for each in named if each.is_whole]
    if len(whole) > 1:
        found = f"every entry of {shown(top.name)} is named as in a download of Moodle, and of Canvas too"
        raise SubmissionError(
            f"{found}, for example {shown(whole[0].fitting[0].name)}; say --layout moodle or --layout canvas"
        )
    if not whole and any(each.fitting for each in named):
        raise _mixture(top, max(named, key=lambda each: len(each.fitting)))
    for sign in () if whole else _BY_CONTENT:
        found_inside = _agreement(top, sign)
        if found_inside.is_whole:
            whole = [found_inside]
            break
        if len(found_inside.fitting) >= len(found_inside.odd) > 0:
            raise _mixture(top, found_inside)
    if not whole:
        return "plain", top
    _refuse_shared_numbers(top, whole[0])
    return whole[0].sign.layout, _without(top, whole[0].copies)


def _agreement(top: Top, sign: _Sign) -> _Agreement:
    entries = _entries(top, sign)
    fits = [sign.fits(item) for item in entries]
    fitting = [item for item, fit in zip(entries, fits, strict=True) if fit]
    odd = [item for item, fit in zip(entries, fits, strict=True) if not fit]
    names = frozenset(item.name for item in top.items)
    copies = [item for item in odd if len(odd) < len(fitting) and item.holds_copy_of(names - {item.name})]
    return _Agreement(sign, fitting, [item for item in odd if item not in copies], copies)


def _entries(top: Top, sign: _Sign) -> list[Item]:
    """Return what can be a submission. Loose files are none but where their names are a platform's."""
    if sign in _BY_NAME:
        return [item for item in top.items if may_be_work(item) and (not _is_loose(item) or _has_platforms_name(item))]
    return [item for item in top.items if may_be_work(item) and not _is_loose(item) and not _is_blank(sign, item)]


def _is_loose(item: Item) -> bool:
    return item.kind == "file" and not item.name.lower().endswith(".zip")


def _without(top: Top, copies: Sequence[Item]) -> Top:
    notes = tuple(f"{shown(item.name)} holds what lies beside it; it was left out" for item in copies)
    return replace(top, items=tuple(item for item in top.items if item not in copies), notes=(*top.notes, *notes))


def _mixture(top: Top, agreement: _Agreement) -> SubmissionError:
    """Return the error that names the entries of which there are fewer, both where there are as many."""
    sign, fitting, odd = agreement.sign, agreement.fitting, agreement.odd
    found = f"{shown(top.name)} mixes two layouts: {len(fitting):,} of {len(fitting) + len(odd):,} entries {sign.words}"
    fitting_named = _listed(fitting) if len(fitting) <= len(odd) else f"for example {shown(fitting[0].name)}"
    odd_named = _listed(odd) if len(fitting) >= len(odd) else f"for example {shown(odd[0].name)}"
    which = f"{found} ({fitting_named}). Others {sign.denied} ({odd_named})."
    move = "Expected entries of one layout: move the odd ones out, or choose the layout."
    options = f"--layout {sign.layout} leaves out the odd ones" if sign in _BY_NAME else f"--layout {sign.layout}"
    return SubmissionError(f"{which} {move} {options}; --layout plain takes every folder and zip for one student's")


def _refuse_shared_numbers(top: Top, agreement: _Agreement) -> None:
    """Refuse names that look like Canvas' by chance, `hw_2026_03_ada.zip`: no two attachments there have one number."""
    seen: dict[int, Item] = {}
    for item in agreement.fitting if agreement.sign.layout == "canvas" else ():
        first, *others = canvas.uploads(item.name)
        number = 0 if others else first.file
        if number and number in seen:
            both = f"{shown(seen[number].name)} and {shown(item.name)}"
            found = f"the entries of {shown(top.name)} are named as in a download of Canvas, but {both} share a number"
            raise SubmissionError(f"{found} that Canvas gives to one file; say --layout plain or --layout canvas")
        seen.setdefault(number, item)


def _listed(items: Sequence[Item]) -> str:
    names = ", ".join(shown(item.name) for item in items[:_NAMED])
    return f"{names} and {len(items) - _NAMED:,} more" if len(items) > _NAMED else names


def _is_moodle(item: Item) -> bool:
    return moodle.owner(item.name) is not None if item.kind == "folder" else bool(moodle.owners(item.name))


def _is_canvas(item: Item) -> bool:
    return item.kind == "file" and bool(canvas.uploads(item.name))


def _has_platforms_name(item: Item) -> bool:
    return _is_moodle(item) or _is_canvas(item)


def _is_clone(item: Item) -> bool:
    try:
        return item.kind == "folder" and item.files is None and kind_of(item.path / ".git") == "folder"
    except FileError:
        return False


def _is_stamped(item: Item) -> bool:
    """Say whether work lies in folders of assignments only, beside a timestamp.txt in each."""
    outline = item.outline() if item.kind == "folder" else Outline(Names(frozenset(), frozenset()), {})
    busy = [each for each in outline.inner.values() if _has_work(each) or each.folders]
    return bool(busy) and not _has_work(outline.own) and all(STAMP in each.files for each in busy)


def _is_blank(sign: _Sign, item: Item) -> bool:
    """Say whether an entry without work says nothing about a layout that shows in the work's folder."""
    if sign.layout != "nbgrader" or item.kind != "folder":
        return False
    outline = item.outline()
    return not _has_work(outline.own) and not any(_has_work(each) or each.folders for each in outline.inner.values())


def _has_work(names: Names) -> bool:
    return any(name[name.rfind(".") :].lower() in WORK for name in names.files if "." in name)


_BY_NAME = (
    _Sign("moodle", _is_moodle, "are named as in a download of Moodle, NAME_ID_assignsubmission_file", "are not"),
    _Sign("canvas", _is_canvas, "are named as in a download of Canvas, NAME_ID_ID_FILE", "are not"),
)
_BY_CONTENT = (
    _Sign("classroom", _is_clone, "hold a .git folder, as clones of GitHub Classroom do", "do not"),
    _Sign("nbgrader", _is_stamped, f"hold {STAMP} beside the work, as in nbgrader's STUDENT/ASSIGNMENT", "do not"),
)
