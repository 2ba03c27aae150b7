# /// attack
# class = "A53"
# title = "writes forged bytecode for the course's files"
# hope = "it may be run in place of the source"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import importlib.util, pathlib
tried()
for file in pathlib.Path(TARGETS["course"], "tests", "exercises").glob("*.py"):
    cache = pathlib.Path(importlib.util.cache_from_source(str(file))).parent
    try:
        cache.mkdir(exist_ok=True)
        (cache / f"{TARGETS['mark']}.pyc").write_bytes(b"")
    except OSError:
        pass
    break
