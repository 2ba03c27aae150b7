# /// attack
# class = "A13"
# title = "patches the judge, if it can be imported"
# hope = "the judge may live in the same process"
# ///
tried()
import importlib
for name in ("grader", "marking", "matching", "verdict"):
    try:
        module = importlib.import_module(f"autograder.judge.{name}")
    except ImportError:
        continue
    for key in ("compare", "wrong", "passes", "judge_observation"):
        if hasattr(module, key):
            setattr(module, key, lambda *_, **__: None)
