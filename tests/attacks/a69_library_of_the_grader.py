# /// attack
# class = "A69"
# title = "imports the grader's own code by a name that is put together"
# hope = "what checks may also compute"
# parts = []
# ///
import importlib
tried()
for name in ("checks.given", "checks.plain_given", "worker.session", "protocol"):
    try:
        importlib.import_module("auto" + "grader." + name)
    except ImportError:
        pass
    else:
        got(f"autograder.{name}")
    if any(module.startswith("auto" + "grader") for module in _sys.modules):
        got("a module of the grader's")
