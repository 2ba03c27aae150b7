"""`course grade` in warm worker processes as in the sandbox, but without confinement, to measure the cost of it.

To measure, not to grade: whatever it runs has the rights of who runs it. `grading.py` does so with its own programs.
"""

import runpy
import sys
from contextlib import nullcontext

from autograder.sandbox import Launch, prestarted_zygote

Launch.user = lambda _: {}  # nobody may read neither root's Python nor this kit: stay who started it

# As early as `course grade` begins its own, which is not wanted here.
with prestarted_zygote(Launch(outer=False, libraries=("torch",))):
    from autograder.instructor import command_grade
    from autograder.sandbox import isolation

    command_grade._sandbox = lambda _: nullcontext()
    isolation.bubblewrap_problem = lambda: "left out"
    isolation.LAYERS = dict.fromkeys(isolation.LAYERS, ())
    isolation.probe = lambda *_: []
    sys.argv[0] = "course"
    runpy.run_module("autograder", run_name="__main__")
