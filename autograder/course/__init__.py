"""The course as data: course.toml, read into frozen types."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .course import (
        HINTS,
        STEPS_PREFIX,
        TENSORS,
        Activity,
        Assignment,
        Columns,
        Course,
        Exercise,
        Grading,
        Limits,
        Part,
        UsageError,
        Value,
        is_number,
        left_out,
        names_of,
        numbers_of,
        resolve_exercise,
    )
    from .files import (
        BEGIN,
        END,
        HUNTS,
        KEY_FOLDER,
        KIT,
        MANIFEST,
        STUBS,
        WHOLE,
        Example,
        Grid,
        Hunt,
        HuntFile,
        StubError,
        is_kit,
        key_file,
        kit_hunts,
        make_stub,
        nothing_to_hunt,
        outline_of_stub,
        read_hunts,
        refuse_kit,
        require_texts,
        stale_stubs,
        stub_text,
        stubs_dir,
        todo_comment,
    )
    from .grading import assigned, due_sentences, find_assignment, resolve_take, taking, too_early, up_to
    from .misconceptions import CATALOGUE, Described, catalogue, describe, entries_of, named_in, nearest_ids
    from .reader import EXTRAS, ID, LICENSE, find_course, problem_of_hints, read_course, versions_of, with_sizes
    from .storage import (
        FOLDER,
        Untrusted,
        ask,
        distrust,
        exists,
        folder_lock,
        is_trusted,
        make_folder,
        new_notes,
        note,
        notes,
        open_plain,
        read_plain,
        read_text,
        remove,
        replacing,
        require,
        set_aside,
        state_folder,
        trust_folder,
        trust_here,
        trust_line,
        try_lock,
        write_atomically,
        write_over,
    )
    from .suite import (
        Suite,
        SuiteError,
        digest_of_parts,
        digests_of_checks,
        engine_digest,
        files_of_rooms,
        load_suite,
        named_content,
        parts_of_others,
        suite_digest,
        suite_files,
        with_steps,
    )
    from .toml import COURSE_FILE, CourseError, nearest, shortened, suggestion, unknown

__getattr__ = face(__name__)
