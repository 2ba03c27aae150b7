"""Read course.toml and the hints of its exercises into frozen types, and report every mistake in them at once."""

import builtins
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from decimal import Decimal
from itertools import combinations
from pathlib import Path

from autograder.formats import COURSE
from autograder.protocol import PACKAGE, PREFIX, SURVEY_REASON, SYNTAX, WAYS, Usual, is_package, is_syntax

from .course import HINTS, Activity, Choice, Columns, Course, Exercise, Limits, Part, Value, Words, names_of
from .grading import read_assignments, read_grading, read_take, taking
from .storage import read_plain
from .toml import (
    COURSE_FILE,
    Collector,
    CourseError,
    KeyPath,
    Problem,
    Section,
    as_flag,
    as_integer,
    as_line,
    as_list,
    as_match,
    as_number,
    as_number_to,
    as_positive,
    as_table,
    as_tables,
    as_text,
    as_texts,
    key_lines,
    line_of,
    nearest,
    quoted,
    suggestion,
)

# Read the [[play]] of course.toml: programs that use the finished exercises, each a module of the course's play/.

PLAY_KEYS = ("id", "title", "needs", "options", "milestones")

COMMON = ("device", "seed", "steps", "say", "fresh", "anyway", "submission", "json", "plain", "no-color", "help")
"""The names of the options that every activity has."""


def read_play(top: Section, exercises: Sequence[str]) -> tuple[Activity, ...]:
    """Read the activities in their order; `exercises` are the ids they may need."""
    activities: list[Activity] = []
    for section in top.tables("play", "[[play]] tables", as_list(as_table)):
        section.expect_keys(*PLAY_KEYS)
        activity = Activity(
            id=section.value("id", "a name in lower case, like write", as_match(r"[a-z][a-z0-9_]*")) or "",
            title=section.value("title", "a line that says what it does", as_line) or "",
            needs=_play_needs(section, exercises),
            choices=_choices(section.section("options")),
            milestones=_milestones(section.section("milestones"), exercises),
        )
        if activity.id in [earlier.id for earlier in activities if earlier.id]:
            section.note("id", f"an earlier activity already has the id {activity.id}, choose another")
        activities.append(activity)
    return tuple(activities)


def _play_needs(section: Section, exercises: Sequence[str]) -> tuple[str, ...]:
    needs = section.texts("needs", "a list of exercise ids")
    section.expect_names("needs", needs, exercises, "not an exercise", "expected ids of exercises")
    return needs


def _milestones(section: Section, exercises: Sequence[str]) -> dict[str, str]:
    """Return the exercises after which an activity is offered, each `id = "what it shows then"`."""
    for name in section.table:
        section.expect_names(name, [name], exercises, "not an exercise", "expected the id of an exercise")
    return {name: section.value(name, "a line that says what it shows then", as_line) or "" for name in section.table}


def _choices(section: Section) -> tuple[Choice, ...]:
    """Return the options of one activity, each `name = [default, "what it does"]`."""
    choices = []
    for name in section.table:
        choice = section.value(name, 'a default and a help text, like [0.8, "how daring"]', _as_choice)
        if name in COMMON:
            section.note(name, f"{name} is an option of every activity, choose another name")
        elif not re.fullmatch(r"[a-z][a-z0-9-]*", name):
            section.note(name, f"{name} cannot be the name of an option, expected lower-case letters, digits and -")
        elif choice is not None:
            choices.append(Choice(name, *choice))
    return tuple(choices)


def _as_choice(value: object) -> tuple[Value, str] | None:
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[1], str) or not value[1].strip():
        return None
    default = float(value[0]) if isinstance(value[0], Decimal) else value[0]
    return (default, value[1]) if isinstance(default, str | int | float) else None


# Read what an exercise forbids: dotted names, modules, builtins, methods of builtin types, and kinds of syntax.

NAME = re.compile(r"[^\W\d]\w*(\.(\w|\*)+)*")
"""A name, or a dotted one; after its first part, `*` matches anything."""

EXPECTED = "expected a builtin like sorted, a module like bisect, a dotted name like math.factorial, or syntax:for"

Groups = Mapping[str, Sequence[str]]


def read_forbidden(section: Section, groups: Groups, libraries: Sequence[str]) -> tuple[str, ...]:
    """Return what an exercise forbids, with the entries of the groups that it lists."""
    listed = section.texts("forbidden", "a list of names and groups", required=False)
    for name in listed:
        if name not in groups and (problem := _problem(name, libraries, list(groups))):
            section.note("forbidden", f"forbidden lists {quoted(name)}, {problem}")
    return tuple(dict.fromkeys(entry for name in listed for entry in groups.get(name, (name,))))


def read_groups(top: Section, libraries: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return the groups of forbidden names, by the name under which exercises list them."""
    table = top.section("forbidden_groups")
    groups: dict[str, Sequence[str]] = {}
    for group in table.table:
        groups[group] = table.texts(group, "a list of names")
        for name in groups[group]:
            if problem := _problem(name, libraries, ()):
                table.note(group, f"{group} lists {quoted(name)}, {problem}")
    return groups


FLAG_KEYS = ("usual", "odd")


def read_usual(top: Section) -> Usual:
    """Return what programs of the course use, and what is odd, from the table `flags`; without it nothing is odd."""
    table = top.section("flags")
    table.expect_keys(*FLAG_KEYS)
    odd = table.section("odd")
    lists = {why: odd.texts(why, "a list of entries") for why in odd.table}
    for why, entries in lists.items():
        if len(why) > SURVEY_REASON:
            odd.note(why, f"the reason has {len(why)} characters, expected at most {SURVEY_REASON}")
        for entry in entries:
            if entry.startswith("way:") and entry not in WAYS:
                near = suggestion(entry, WAYS, f"expected one of {', '.join(WAYS)}")
                odd.note(why, f"{quoted(entry)} is no way to reach a name, {near}")
    names = table.texts("usual", "a list of names", required=False)
    return Usual(tuple(names), tuple((why, tuple(entries)) for why, entries in lists.items()))


def _problem(name: str, libraries: Sequence[str], groups: Sequence[str]) -> str:
    """Return why an entry cannot be decided, or an empty text."""
    if is_syntax(name):
        return _syntax_problem(name.removeprefix(PREFIX))
    if is_package(name):
        return "" if name.removeprefix(PACKAGE).isidentifier() else "expected the name of a package after it"
    if not NAME.fullmatch(name):
        return EXPECTED
    owner, _, rest = name.partition(".")
    if rest and isinstance(kind := vars(builtins).get(owner), type):
        return _method_problem(kind, rest)
    if rest and owner in vars(builtins):
        return f"but {owner} is a function and has no parts; forbid {owner}"
    if rest or owner in vars(builtins) or owner in sys.stdlib_module_names or owner in libraries:
        return ""
    if (near := nearest(name, groups)) is not None:
        return f"did you mean the group {near}?"
    methods = [f"{kind.__name__}.{name}" for kind in (list, dict, set, str) if hasattr(kind, name)]
    if methods:
        return f"did you mean {' or '.join(methods)}?"
    known = (*groups, *dir(builtins), *sys.stdlib_module_names, *libraries)
    near = nearest(name, (word for word in known if not word.startswith("_")))
    package = f"or a package that Python does not bring along, as {PACKAGE}{name}"
    return f"did you mean {near}, {package}?" if near is not None else f"{EXPECTED}, {package}"


def _syntax_problem(kind: str) -> str:
    if kind in SYNTAX:
        return ""
    near = nearest(kind, list(SYNTAX))
    return f"did you mean {PREFIX}{near}?" if near is not None else f"expected one of {', '.join(SYNTAX)} after it"


def _method_problem(kind: type, method: str) -> str:
    """Return why a method cannot be refused: it does not exist, or Python calls it for an operator."""
    if method.startswith("__"):
        return f"but an operator calls it without its name; forbid the operator, like {PREFIX}power"
    if "*" in method or hasattr(kind, method):
        return "" if "*" not in method else f"expected one method of {kind.__name__}, without *"
    near = nearest(method, dir(kind))
    return f"did you mean {kind.__name__}.{near}?" if near is not None else f"but {kind.__name__} has no such method"


# Read the `sizes` of course.toml: the columns of axis sizes that the trials of checks use.


def read_sizes(owner: Section) -> Columns:
    """Return one mapping from axis to size for each column of the `sizes` of a course or of a part."""
    table = owner.value("sizes", "a table of axes, like T = [7, 9]", lambda value: as_table(value) or None) or {}
    section = Section(table, (*owner.path, "sizes"), f"{owner.label} sizes".strip(), owner.problems)
    read = {name: section.value(name, "a list of integers above 0", as_list(as_positive, 1)) for name in table}
    axes = {name: sizes for name, sizes in read.items() if sizes}
    columns = Counter(map(len, axes.values())).most_common(1)[0][0] if axes else 0
    for name, sizes in axes.items():
        if len(sizes) != columns:
            found = f"{len(sizes)} column{'' if len(sizes) == 1 else 's'}"
            section.note(name, f"{name} has {found}, expected {columns} as most axes have")
        elif columns < 2:
            section.note(name, f"{name} has one column, expected at least two, since each check runs on two")
    _note_equal_sizes(section, axes)
    return tuple(
        {name: sizes[column] for name, sizes in axes.items() if column < len(sizes)} for column in range(columns)
    )


def _note_equal_sizes(section: Section, axes: Mapping[str, tuple[int, ...]]) -> None:
    """Record axes of equal size in one column: a program that confuses them would have the right shapes."""
    for (one, ones), (other, others) in combinations(axes.items(), 2):
        for column, (size, same) in enumerate(zip(ones, others, strict=False), start=1):
            if size == same:
                section.note(other, f"{one} and {other} are both {size} in column {column}, expected different sizes")


# Read the `words` of course.toml, with which messages to students name what each axis counts.

LONGEST = 24  # characters, so that a sentence with two of them still fits on a line
_EXPECTED = "a word, or a list of words of which the first unused one is taken"


def read_words(section: Section, sized: Section) -> Words:
    """Return the optional words of a course, a part or an exercise; `sized` has the sizes that they may name."""
    table = section.section("words")
    sizes = as_table(sized.table.get("sizes")) or {}
    read = {}
    for symbol in table.table:
        words = table.value(symbol, _EXPECTED, _as_words)
        if words is None:
            continue
        read[symbol] = words
        if symbol not in sizes:
            hint = suggestion(symbol, sizes, f"expected one of {', '.join(sizes)}")
            table.note(symbol, f"{symbol} is not in [sizes]; {hint}")
        if len(set(words)) < len(words):
            table.note(symbol, f"{symbol} lists a word twice, expected different words")
        for word in words:
            if len(word) > LONGEST:
                table.note(symbol, f"{symbol} has {quoted(word)}, expected at most {LONGEST} characters")
    return read


def _as_words(value: object) -> tuple[str, ...] | None:
    words = (value,) if isinstance(value, str) else as_texts(value)
    return words if words and all(as_text(word) and word.isprintable() for word in words) else None


# Read the [[parts]] of course.toml: their points, and sizes and words of their own. An exercise names its part.

PART_KEYS = ("id", "title", "points", "sizes", "words")

PART_ID = r"(?!ex\d)[a-z][a-z0-9_]*"
"""The id of a part, which is never taken for that of an exercise."""


def part_sections(top: Section) -> list[Section]:
    """Return the table of each part; there need not be any."""
    return top.tables("parts", "at least one [[parts]] table", as_tables)


def read_parts(top: Section, sections: Sequence[Section], exercises: Sequence[Section]) -> tuple[Part, ...]:
    """Return the parts of a course in their order. In a course with parts, each of the exercises must name one."""
    if sections and "points" in top.table:
        top.note("points", "points has no effect beside [[parts]], each of which has points of its own; remove it")
    parts: list[Part] = []
    for section in sections:
        part = _part(top, section, [exercise for exercise in exercises if owner_of(exercise, sections, top) is section])
        if part.id and part.id in [earlier.id for earlier in parts]:
            section.note("id", f"an earlier part already has the id {part.id}, choose another")
        parts.append(part)
    ids = [part.id for part in parts]
    if len(set(filter(None, ids))) == len(ids):
        _note_parts(exercises, ids)
    return tuple(parts)


def _part(top: Section, section: Section, exercises: Sequence[Section]) -> Part:
    section.expect_keys(*PART_KEYS)
    return Part(
        id=section.value("id", "a name in lower case, like two", as_match(PART_ID)) or "",
        title=section.value("title", "one line that names the part", as_line) or "",
        exercises=tuple(str(exercise.table.get("id")) for exercise in exercises),
        sizes=read_sizes(section) if "sizes" in section.table else (),
        words=read_words(section, section if "sizes" in section.table else top),
    )


def _note_parts(exercises: Sequence[Section], known: Sequence[str]) -> None:
    """Record exercises without a part, of a part that does not exist, or after one of a later part."""
    latest = 0
    otherwise = f"expected one of {', '.join(known)}" if known else "the course has none, so remove it"
    for exercise in exercises:
        part = exercise.value("part", "the id of one of the [[parts]]", as_text, required=bool(known))
        if part is None:
            continue
        if part not in known:
            hint = suggestion(part, known, otherwise)
            exercise.note("part", f"part is {quoted(part)}, which is not one of the [[parts]]; {hint}")
        elif known.index(part) < latest:
            found = f"part is {part}, after an exercise of {known[latest]}"
            exercise.note("part", f"{found}, expected the order of the [[parts]]")
        else:
            latest = known.index(part)


def owner_of(exercise: Section, sections: Sequence[Section], top: Section, key: str = "id") -> Section:
    """Return the table of the part that an exercise names, if that has the key, else the table of the course."""
    name = exercise.table.get("part")
    return next((section for section in sections if section.table.get("id") == name and key in section.table), top)


def read_other_sizes(top: Section, parts: Sequence[Part]) -> tuple[Part, ...]:
    """Return the parts with the sizes of another file, which must have some for each part with sizes of its own."""
    sizes = {}
    for section in part_sections(top):
        section.expect_keys("id", "sizes")
        known = [part.id for part in parts if part.sizes]
        id_ = section.value(
            "id", f"a part with sizes of its own: {', '.join(known) or 'there is none'}", as_match(PART_ID)
        )
        if id_ is not None and id_ not in known:
            section.note("id", f"id is {quoted(id_)}, which is not a part with sizes of its own")
        sizes[id_] = read_sizes(section)
    for part in parts:
        if part.sizes and part.id not in sizes:
            top.note("parts", f'part {part.id} has sizes of its own; add [[parts]] with id = "{part.id}" and its sizes')
    return tuple(replace(part, sizes=sizes.get(part.id, part.sizes)) for part in parts)


# The points of the exercises: shares of a total, in whole hundredths that add up to it.

TOTAL = Decimal(100)
"""The points of a course that does not say how many it has."""

MOST = Decimal(10_000)
"""The largest total: more digits than a gradebook shows."""

LARGEST_SHARE = Decimal(1_000_000)
"""The largest number of points that an exercise may name; only the ratio to the other exercises counts."""


def read_points(top: Section, sections: Sequence[Section]) -> list[int]:
    """Return the hundredths of a point that each exercise is worth; 0 for each if one of them is not valid.

    The numbers in course.toml are shares: they are scaled so that all together are the total of the course.
    """
    total = _total(top)
    shares = [_share(section) for section in sections]
    valid = [share for share in shares if share is not None]
    if total is None or len(valid) < len(shares):
        return [0] * len(shares)
    points = split(int(total * 100), valid)
    for section, worth in zip(sections, points, strict=True):
        if not worth:
            found = f"points is {quoted(section.table['points'])}, which is less than 0.01 of {total}"
            section.note("points", f"{found} when all points are scaled to that total; use a larger number")
    return points


def split(total: int, shares: Sequence[Decimal] | Sequence[float]) -> list[int]:
    """Return whole numbers in the ratio of the shares that add up to the total.

    Rounding loses nothing: the largest remainders get one more.
    """
    whole_of = sum(shares)
    exact = [total * share / whole_of for share in shares]  # type: ignore[operator]
    whole = [int(number) for number in exact]
    by_remainder = sorted(range(len(whole)), key=lambda place: whole[place] - exact[place])
    for place in by_remainder[: total - sum(whole)]:
        whole[place] += 1
    return whole


def _total(top: Section) -> Decimal | None:
    if "points" not in top.table:
        return TOTAL
    total = top.value("points", f"a number above 0 and at most {MOST}", as_number_to(MOST))
    if total is not None and total != total.quantize(Decimal("0.01")):
        top.note("points", f"points is {quoted(total)}, expected at most two decimals")
        return None
    return total


def _share(section: Section) -> Decimal | None:
    share = section.value("points", "a number above 0", as_number)
    if share is not None and share > LARGEST_SHARE:
        section.note("points", f"points is {quoted(share)}, expected at most {LARGEST_SHARE}")
        return None
    return share


# Read the [[exercises]] of course.toml: their ids, points, needs and forbidden names; the hints beside their checks.

EXERCISE_KEYS = (
    *("id", "part", "title", "points", "needs", "forbidden", "words", "built", "minutes", "also", "libraries"),
)

HINT_KEYS = ("start", "hints")
"""The tables in the file with the hints of an exercise."""

_as_aliases = as_list(as_match(r"[a-z][a-z0-9_]*"))

ID = re.compile(r"ex[0-9]{2}_[a-z][a-z0-9_]*")
"""The id of an exercise: the names of its files begin with it."""

HINT_LENGTH = 200
"""Characters of a hint: about 40 words, three lines of a terminal."""

TODO_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)?")
"""The name of a TODO: a function, or a method with its class."""

MOST_STARTS = 3
"""Texts on how to begin one TODO: as many as there are hints."""

BUILT_LENGTH = 110
"""Characters of `built`, which is one line of a report."""

Hints = Mapping[str, tuple[str, str, str]]
Starts = Mapping[str, tuple[str, ...]]


def read_exercises(
    top: Section, root: Path, libraries: Sequence[str] = (), *, required: bool = True
) -> tuple[tuple[Exercise, ...], tuple[Part, ...]]:
    """Read the exercises in their order, and their parts; each exercise may need only earlier ones.

    There may be none, if not `required`.
    """
    expected = "at least one [[exercises]] table; `course new NAME` adds one"
    sections = top.tables("exercises", expected, as_tables, required=required)
    ids = [
        section.value("id", "exNN_name in lower case, like ex05_attention", as_match(ID)) or "" for section in sections
    ]
    for index, section in enumerate(sections):
        _note_earlier(section, ids[index], ids[:index])
    owners = part_sections(top)
    parts = read_parts(top, owners, sections)
    points = _points(top, owners, sections)
    groups = read_groups(top, libraries)
    exercises = []
    for index, (section, worth) in enumerate(zip(sections, points, strict=True)):
        own = _own_libraries(section, libraries)
        forbidden = read_forbidden(section, groups, (*libraries, *own))
        start, hints = _texts_beside(section, root, ids[index])
        exercise = Exercise(
            id=ids[index],
            title=section.value("title", "a string", as_text) or "",
            points=worth,
            needs=_needs(section, ids, index),
            hints=hints,
            forbidden=forbidden,
            words=read_words(section, owner_of(section, owners, top, "sizes")),
            built=_built(section),
            start=start,
            minutes=section.value("minutes", "a whole number of minutes above 0", as_positive, required=False),
            also=section.value("also", "a list of names in lower case, like rope", _as_aliases, required=False) or (),
            libraries=own,
        )
        exercises.append(exercise)
    for section, exercise in zip(sections, exercises, strict=True):
        others = {
            name: one for one in exercises if one.id not in ("", exercise.id) for name in (*names_of(one), *one.also)
        }
        for name in exercise.also:
            if name in others:
                section.note("also", f"also has {name}, which names {others[name].id} already; choose another name")
    return tuple(exercises), parts


def _points(top: Section, owners: Sequence[Section], sections: Sequence[Section]) -> list[int]:
    """Return the hundredths of a point of each exercise: its share of its part, or of a course without parts."""
    points = [0] * len(sections)
    for owner in owners or [top]:
        own = [index for index, section in enumerate(sections) if owner_of(section, owners, top) is owner]
        for index, worth in zip(own, read_points(owner, [sections[index] for index in own]), strict=True):
            points[index] = worth
    return points


def _own_libraries(section: Section, of_course: Sequence[str]) -> tuple[str, ...]:
    libraries = read_libraries(section)
    for name in [name for name in libraries if name in of_course]:
        section.note("libraries", f"libraries lists {name}, which the whole course has already; remove it here")
    return libraries


def _note_earlier(section: Section, id_: str, earlier: Sequence[str]) -> None:
    """Record an id that an earlier exercise has, or whose number one has: commands name an exercise by its number."""
    if id_ and id_ in earlier:
        section.note("id", f"an earlier exercise already has the id {id_}, choose another")
    elif same := next((other for other in earlier if id_ and other[:4] == id_[:4]), None):
        number = f"the number {id_[2:4]}, which {same} has already"
        section.note("id", f"id has {number}, expected another number; rename this exercise and its files")


def _needs(section: Section, ids: Sequence[str], index: int) -> tuple[str, ...]:
    needs = section.texts("needs", "a list of exercise ids", required=False)
    for need in needs:
        if need in ids[:index]:
            continue
        if need == ids[index]:
            section.note("needs", f"needs lists {need}, the exercise itself, expected earlier exercises only")
        elif need in ids:
            section.note("needs", f"needs lists {need}, a later exercise, expected earlier exercises only")
        else:
            otherwise = "expected the id of an earlier exercise"
            section.expect_names("needs", [need], ids[:index], "not an exercise", otherwise)
    return needs


def _texts_beside(section: Section, root: Path, id_: str) -> tuple[Starts, Hints]:
    """Return the texts in the file with the hints of an exercise; none if there is no such file."""
    name = f"{HINTS}/{id_}.toml"
    misplaced = [key for key in HINT_KEYS if key in section.table]
    section.expect_keys(*EXERCISE_KEYS, *misplaced)
    for key in misplaced:
        section.note(key, f"{key} is in {COURSE_FILE}, expected in {name}; move it there, as the table [{key}]")
    try:
        top = _opened(root / name, name, required=False)
        top.expect_keys(*HINT_KEYS)
        texts = _start(top), _hints(top)
        top.problems.raise_any()
    except CourseError as error:
        section.problems.more += error.problems
        return {}, {}
    return texts


def problem_of_hints(course: Course, exercise: Exercise, key: KeyPath, message: str) -> str:
    """Return a sentence about the hints of an exercise, with their file and the line of a key in it."""
    name = f"{HINTS}/{exercise.id}.toml"
    lines = key_lines(_text(course.root / name, name, required=False))
    return str(Problem(line_of(lines, key), message, name))


def _hints(section: Section) -> Hints:
    table = section.section("hints")
    hints: dict[str, tuple[str, str, str]] = {}
    for check in table.table:
        texts = table.value(check, "a list of three strings", as_texts)
        if texts is None:
            continue
        if len(texts) != 3:
            table.note(check, f"{check} has {len(texts)} hints, expected three: a question, the principle, the step")
            continue
        hints[check] = (texts[0], texts[1], texts[2])
        for number, text in enumerate(texts, start=1):
            _note_text(table, check, f"hint {number}", text)
    return hints


def _start(section: Section) -> Starts:
    table = section.section("start")
    starts: dict[str, tuple[str, ...]] = {}
    for todo in table.table:
        if isinstance(table.table[todo], dict):
            table.note(todo, f'{todo} is a table, expected a list; put a name with a dot in quotes: "{todo}.__init__"')
            continue
        texts = table.value(todo, "a list of one to three strings", as_texts)
        if texts is None:
            continue
        if not TODO_NAME.fullmatch(todo):
            table.note(todo, f"{quoted(todo)} names no TODO, expected a function, or a method as Class.method")
        if not 1 <= len(texts) <= MOST_STARTS:
            table.note(todo, f"{todo} has {len(texts)} texts, expected one to three")
        for number, text in enumerate(texts, start=1):
            _note_text(table, todo, f"text {number}", text)
        starts[todo] = texts
    return starts


def _note_text(table: Section, key: str, name: str, text: str) -> None:
    if not text.strip():
        table.note(key, f"{name} of {key} is empty, expected a sentence")
    elif len(text) > HINT_LENGTH:
        table.note(key, f"{name} of {key} has {len(text)} characters, expected at most {HINT_LENGTH}")


def _built(section: Section) -> str | None:
    built = section.value("built", "one line that says what was built", as_line, required=False)
    if built is not None and len(built) > BUILT_LENGTH:
        section.note("built", f"built has {len(built)} characters, expected at most {BUILT_LENGTH}")
    return built


# Read the `libraries` of course.toml: the modules that the programs of a course, or of one exercise, may use beside
# Python's own.

MODULE = re.compile(r"[^\W\d]\w*")


def read_libraries(top: Section) -> tuple[str, ...]:
    """Return the libraries of a course, or of an exercise; none if it needs only Python."""
    expected = 'a list of modules, like ["torch"] or ["numpy"]'
    libraries = top.texts("libraries", expected, required=False)
    for name in libraries:
        if not MODULE.fullmatch(name):
            top.note("libraries", f"libraries lists {quoted(name)}, expected the name that `import` takes, like numpy")
        elif name in sys.stdlib_module_names:
            top.note("libraries", f"libraries lists {name}, which is a part of Python; remove it")
        elif libraries.count(name) > 1:
            top.note("libraries", f"libraries lists {name} twice; remove one")
    return tuple(dict.fromkeys(libraries))


def versions_of(libraries: Iterable[str]) -> dict[str, str]:
    """Return the versions of some libraries and of NumPy, on which numbers depend; "none" of one without a version."""
    return {name: _version(name) for name in dict.fromkeys([*libraries, "numpy"])}


def _version(name: str) -> str:
    for folder in sys.path:
        for found in Path(folder).glob(f"{name}-*.dist-info"):
            return found.name.removeprefix(f"{name}-").removesuffix(".dist-info")
    from importlib import metadata  # which takes longer to load than the name of a folder takes to read

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        distributions = metadata.packages_distributions().get(name, [])
        return metadata.version(distributions[0]) if distributions else "none"


EXTRAS = frozenset({"torch", "triton"})
"""The libraries that the engine's distribution installs as an extra of that name, in a version that it supports."""

KEYS = (
    *("format", "title", "license", "authors", "seed", "points", "take", "libraries", "questions", "limits", "sizes"),
    *("words", "forbidden_groups", "flags", "parts", "exercises", "grading", "play", "assignments"),
)

NAMES = 'a list of names without addresses, like ["Ada Lovelace"]'
LICENSE = "an identifier of spdx.org/licenses, like CC-BY-4.0 or MIT"

_LICENSE = re.compile(r"[A-Za-z0-9.+()-]+( [A-Za-z0-9.+()-]+)*")
_NAME = re.compile(r"[^\s,<>@]+( [^\s,<>@]+)*")

NO_SIZES: Columns = ({},)
"""The one column of a course without axes: each trial has it."""


def find_course(start: Path | None = None) -> Path:
    """Return the nearest folder with a course.toml, at or above `start` or the working folder.

    Raises `CourseError` if there is none.
    """
    try:
        folder = (start or Path.cwd()).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise _error(f"the working folder cannot be read ({error}); go to the folder of your course") from None
    for candidate in (folder, *folder.parents):
        if _has_course(candidate):
            return candidate
    raise _error(f"not found in {folder} or any folder above; go to the folder of your course and try again")


def read_course(root: Path, *, empty: bool = False) -> Course:
    """Read root/course.toml and the hints of its exercises. Raises `CourseError` with all mistakes in these files.

    No other file needs to exist, not even those with hints. With `empty`, the course may have no exercises yet.
    """
    top = _opened(root / COURSE_FILE)
    _check_format(top)
    top.expect_keys(*KEYS)
    libraries = read_libraries(top)
    exercises, parts = read_exercises(top, root, libraries, required=not empty)
    ids = [exercise.id for exercise in exercises]
    course = Course(
        root=root,
        title=top.value("title", "a string", as_text) or "",
        seed=top.value("seed", "an integer", as_integer) or 0,
        limits=_limits(top.section("limits")),
        sizes=read_sizes(top) if "sizes" in top.table else NO_SIZES,
        exercises=exercises,
        words=read_words(top, top),
        play=read_play(top, ids),
        questions=top.value("questions", "true or false", as_flag, required=False) is not False,
        libraries=libraries,
        parts=parts,
        usual=read_usual(top),
        license=top.value("license", LICENSE, as_match(_LICENSE), required=False) or "",
        authors=top.value("authors", NAMES, _as_names, required=False) or (),
    )
    course = taking(course, read_take(top, course))
    course = replace(course, assignments=read_assignments(top, course))
    course = replace(course, grading=read_grading(top, ids, [exercise.id for exercise in course.exercises]))
    top.problems.raise_any()
    return course


def _check_format(top: Section) -> None:
    """Raise `CourseError` for a course of another format: what else looks wrong may be right in that format."""
    number = top.value("format", "a whole number above 0", as_positive, required=False)
    if number is not None and (problem := COURSE.problem_of(number)):
        top.note("format", problem)
        top.problems.raise_any()


def with_sizes(course: Course, file: Path) -> Course:
    """Return the course with the sizes of another TOML file: [sizes], and [[parts]] with an id and sizes.

    Raises `CourseError` with all its mistakes.
    """
    top = _opened(file, str(file))
    top.expect_keys("sizes", "parts")
    sizes = read_sizes(top)
    parts = read_other_sizes(top, course.parts)
    top.problems.raise_any()
    return replace(course, sizes=sizes, parts=parts)


def _as_names(value: object) -> tuple[str, ...] | None:
    """Return names as pip takes them: an address has no place in one, and a comma would make two of it."""
    names = as_texts(value)
    return names if names is not None and all(name.isprintable() and _NAME.fullmatch(name) for name in names) else None


def _has_course(folder: Path) -> bool:
    try:
        return (folder / COURSE_FILE).is_file()
    except OSError:
        return False


def _error(message: str, line: int | None = None, name: str = COURSE_FILE) -> CourseError:
    return CourseError([Problem(line, message, name)])


def _opened(path: Path, name: str = COURSE_FILE, *, required: bool = True) -> Section:
    """Return the table of a TOML file, which messages call `name`; an empty one if it is missing and not `required`.

    Fractions become decimals, so that points of 2.55 stay exactly 2.55.
    """
    text = _text(path, name, required=required)
    try:
        return Section(tomllib.loads(text, parse_float=Decimal), (), "", Collector(text, name))
    except RecursionError:
        raise _error("lists or tables are nested too deeply; expected three levels at most", name=name) from None
    except (ValueError, ArithmeticError) as error:  # ArithmeticError: an exponent too large for a decimal
        position = re.search(r"\(at (?:line (\d+), column \d+|end of document)\)", str(error))
        reason = str(error).replace(position.group(), "").strip() if position else str(error)
        line = int(position[1]) if position and position[1] else text.count("\n") + 1 if position else None
        raise _error(f"this is not TOML: {reason}", line, name) from None


def _text(path: Path, name: str, *, required: bool) -> str:
    try:
        return read_plain(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        found = f"found the byte 0x{error.object[error.start]:02x}"
        raise _error(f"{found}, expected UTF-8; save the file as UTF-8", line, name) from None
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError) and not required:
            return ""
        reason = getattr(error, "strerror", None) or error
        remedy = "give the folder of a course" if required else "make it a file that can be read, or remove it"
        raise _error(f"cannot read {path} ({reason}); {remedy}", name=name) from None


LEAST_MEMORY = 64
"""MiB that a worker may need beside what it has loaded before the first check."""


def _limits(section: Section) -> Limits:
    names = [field.name for field in fields(Limits)]
    section.expect_keys(*names)
    default = Limits()
    read = {
        name: section.value(name, "an integer above 0", as_positive, required=False) or getattr(default, name)
        for name in names
    }
    if 0 < read["memory_mib"] < LEAST_MEMORY:
        reason = "Python needs that much for its own work, and right programs would fail"
        section.note("memory_mib", f"memory_mib is {read['memory_mib']}, expected at least {LEAST_MEMORY}: {reason}")
    return Limits(**read)
