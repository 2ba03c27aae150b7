"""Tools for course authors: stubs, notebooks, releases, and the proof that a course is consistent."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .command_build import find_stale, write_files
    from .command_new import new_course, new_exercise
    from .mutants import (
        ExerciseMutants,
        Mutant,
        Options,
        add_equivalents,
        changed_lines,
        equivalents_file,
        mutants_of,
        mutate_each,
        patch_of,
    )
    from .naming import TEXTS, add_defaults, append_entry, entry_of, patches_of
    from .oversights import unfinished_texts
    from .programs import WHOLE
    from .proof import validate
    from .release import MOST_KEY_BYTES, examine_kit, known_sizes, of_budget, release_kit
    from .styles import (
        Losses,
        Sample,
        calibrate,
        digest_of_programs,
        make_hunts,
        make_one,
        misconceptions,
        ported,
        prove_once,
        tables,
        wrong_programs,
    )

__getattr__ = face(__name__)
