# /// attack
# class = "A50"
# title = "puts modules of its own in place of the library's"
# hope = "what runs after it may import them"
# ///
import types
for name in ("random", "json", "struct", "hashlib", "time", "os"):
    _sys.modules[name] = types.ModuleType(name)
_sys.path.insert(0, TARGETS["tmp"])
tried()
