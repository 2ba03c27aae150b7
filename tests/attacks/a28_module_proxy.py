# /// attack
# class = "A28"
# title = "replaces its module by one that has every name"
# hope = "a name that is asked for may do for a right one"
# ///
import types
class Everything(types.ModuleType):
    def __getattr__(self, name):
        return lambda *_, **__: True
tried()
_sys.modules[__name__] = Everything(__name__)
