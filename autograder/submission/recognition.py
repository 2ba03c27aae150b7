"""Recognise the layout of a download: the one that all its entries have, never one that only some suggest.

Platforms name the entries, so if only some have such a name, the folder mixes layouts and is refused. The contents of
an entry come from its student: `.git` and timestamp.txt show a layout if every entry has them. If less than half of
the entries have them, they are the students' own files. Between these, the folder is refused as a mixture.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from autograder.submission import canvas, moodle
from autograder.submission.class_folder import ClassFolder, Item, Names, Outline, is_work, may_be_work
from autograder.submission.files import FileError, SubmissionError, printable_name
from autograder.submission.folder import kind_of

_NAMED = 5
"""How many entries a message names; the others are counted."""

STAMP = "timestamp.txt"


@dataclass(frozen=True)
class _Sign:
    """A sign of a layout in its entries: a test, its description, and the words for entries without it."""

    layout: str
    fits: Callable[[Item], bool]
    description: str
    negation: str


@dataclass(frozen=True)
class _Agreement:
    """The entries with the sign of a layout, those without it (`odd`), and copies of the download itself."""

    sign: _Sign
    fitting: Sequence[Item]
    odd: Sequence[Item]
    copies: Sequence[Item]

    @property
    def is_whole(self) -> bool:
        return bool(self.fitting) and not self.odd


def recognise(folder: ClassFolder) -> tuple[str, ClassFolder]:
    """Return the layout that all entries have, and the folder without copies of the download.

    Raises `SubmissionError` if only some of the entries have a layout.
    """
    by_name = [_agreement(folder, sign) for sign in _BY_NAME]
    whole = [agreement for agreement in by_name if agreement.is_whole]
    if len(whole) > 1:
        problem = f"every entry of {printable_name(folder.name)} is named as in a download of Moodle, and of Canvas too"
        raise SubmissionError(
            f"{problem}, for example {printable_name(whole[0].fitting[0].name)}; "
            "choose --layout moodle or --layout canvas"
        )
    if not whole and any(agreement.fitting for agreement in by_name):
        raise _mixture(folder, max(by_name, key=lambda agreement: len(agreement.fitting)))
    for sign in () if whole else _BY_CONTENT:
        by_content = _agreement(folder, sign)
        if by_content.is_whole:
            whole = [by_content]
            break
        if len(by_content.fitting) >= len(by_content.odd) > 0:
            raise _mixture(folder, by_content)
    if not whole:
        return "plain", folder
    _refuse_shared_numbers(folder, whole[0])
    return whole[0].sign.layout, _without(folder, whole[0].copies)


def _agreement(folder: ClassFolder, sign: _Sign) -> _Agreement:
    entries = _entries(folder, sign)
    fits = [sign.fits(item) for item in entries]
    fitting = [item for item, fit in zip(entries, fits, strict=True) if fit]
    odd = [item for item, fit in zip(entries, fits, strict=True) if not fit]
    names = frozenset(item.name for item in folder.items)
    copies = [item for item in odd if len(odd) < len(fitting) and item.holds_copy_of(names - {item.name})]
    return _Agreement(sign, fitting, [item for item in odd if item not in copies], copies)


def _entries(folder: ClassFolder, sign: _Sign) -> list[Item]:
    """Return the items that can be submissions. A loose file can only be one if a platform named it."""
    items = [item for item in folder.items if may_be_work(item)]
    if sign in _BY_NAME:
        return [item for item in items if not item.is_loose or _is_moodle(item) or _is_canvas(item)]
    return [item for item in items if not item.is_loose and not _is_blank(sign, item)]


def _without(folder: ClassFolder, copies: Sequence[Item]) -> ClassFolder:
    notes = tuple(map(_about_copy, copies))
    return replace(
        folder, items=tuple(item for item in folder.items if item not in copies), notes=(*folder.notes, *notes)
    )


def _about_copy(zip_: Item) -> str:
    """Return the note on a download that was unpacked beside itself, and where its files are others."""
    name = printable_name(zip_.name)
    if not (other := zip_.other_contents()):
        return f"{name} is a copy of the files beside it; it was left out"
    differ = f"{name} differs from the files beside it in {_listed(other)}"
    return f"{differ}; it was left out, and the files beside it count: unpack it again if it is newer"


def _mixture(folder: ClassFolder, agreement: _Agreement) -> SubmissionError:
    """Return the error for a mixture: it lists the minority of the entries, or both halves if they are equal."""
    sign, fitting, odd = agreement.sign, agreement.fitting, agreement.odd
    share = f"{len(fitting):,} of {len(fitting) + len(odd):,} entries {sign.description}"
    fitting_named = (
        _listed([item.name for item in fitting])
        if len(fitting) <= len(odd)
        else f"for example {printable_name(fitting[0].name)}"
    )
    odd_named = (
        _listed([item.name for item in odd])
        if len(fitting) >= len(odd)
        else f"for example {printable_name(odd[0].name)}"
    )
    mixed = f"{printable_name(folder.name)} mixes two layouts: {share} ({fitting_named})."
    which = f"{mixed} Others {sign.negation} ({odd_named})."
    move = "Expected entries of one layout: move the odd ones out, or choose the layout."
    options = f"--layout {sign.layout} leaves out the odd ones" if sign in _BY_NAME else f"--layout {sign.layout}"
    return SubmissionError(f"{which} {move} {options}; --layout plain treats every folder and zip as one student's")


def _refuse_shared_numbers(folder: ClassFolder, agreement: _Agreement) -> None:
    """Refuse names that only look like Canvas names, as `hw_2026_03_ada.zip`: each attachment has its own number."""
    seen: dict[int, Item] = {}
    for item in agreement.fitting if agreement.sign.layout == "canvas" else ():
        first, *others = canvas.uploads(item.name)
        number = 0 if others else first.file
        if number and number in seen:
            both = f"{printable_name(seen[number].name)} and {printable_name(item.name)}"
            named = f"the entries of {printable_name(folder.name)} are named as in a download of Canvas"
            shared = f"{both} share a number that Canvas gives to one file only"
            raise SubmissionError(f"{named}, but {shared}; choose --layout plain or --layout canvas")
        seen.setdefault(number, item)


def _listed(names: Sequence[str]) -> str:
    first = ", ".join(map(printable_name, names[:_NAMED]))
    return f"{first} and {len(names) - _NAMED:,} more" if len(names) > _NAMED else first


def _is_moodle(item: Item) -> bool:
    return bool(moodle.owners(item.name, item.kind))


def _is_canvas(item: Item) -> bool:
    return item.kind == "file" and bool(canvas.uploads(item.name))


def _is_clone(item: Item) -> bool:
    try:
        return item.kind == "folder" and item.files is None and kind_of(item.path / ".git") == "folder"
    except FileError:
        return False


def _is_stamped(item: Item) -> bool:
    """Say whether all work is in folders of assignments, beside a timestamp.txt in each."""
    outline = item.outline() if item.kind == "folder" else Outline(Names(frozenset(), frozenset()), {})
    assignments = [names for names in outline.inner.values() if _has_work(names) or names.folders]
    return bool(assignments) and not _has_work(outline.own) and all(STAMP in names.files for names in assignments)


def _is_blank(sign: _Sign, item: Item) -> bool:
    """Say whether an entry without work proves nothing, since nbgrader's layout shows in the folders with work."""
    if sign.layout != "nbgrader" or item.kind != "folder":
        return False
    outline = item.outline()
    return not _has_work(outline.own) and not any(_has_work(inner) or inner.folders for inner in outline.inner.values())


def _has_work(names: Names) -> bool:
    return any(map(is_work, names.files))


_BY_NAME = (
    _Sign("moodle", _is_moodle, "are named as in a download of Moodle, NAME_ID_assignsubmission_file", "are not"),
    _Sign("canvas", _is_canvas, "are named as in a download of Canvas, NAME_ID_ID_FILE", "are not"),
)
_BY_CONTENT = (
    _Sign("clones", _is_clone, "hold a .git folder, as clones of repositories do", "do not"),
    _Sign("nbgrader", _is_stamped, f"hold {STAMP} beside the work, as in nbgrader's STUDENT/ASSIGNMENT", "do not"),
)
