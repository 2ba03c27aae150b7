# /// attack
# class = "A29"
# title = "answers every import itself"
# hope = "the solution or the checks may be imported later"
# ///
import importlib.abc, importlib.util
class Evil(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self) if name.startswith(("ex", "test_", "solution")) else None
    def exec_module(self, module):
        module.__dict__["__getattr__"] = lambda _: (lambda *_, **__: True)
tried()
_sys.meta_path.insert(0, Evil())
