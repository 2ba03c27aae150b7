# /// attack
# class = "A64"
# title = "leaves its answers where another exercise finds them"
# hope = "exercises of one student share a process"
# parts = ["inside"]
# exercise = "ex04_masks"
# wrong = "masks-target-either"
# ///
import builtins
builtins.left_behind = {"plan": the_job().job["plan"]}
tried()
