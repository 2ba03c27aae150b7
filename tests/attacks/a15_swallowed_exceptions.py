# /// attack
# class = "A15"
# title = "swallows every exception"
# hope = "a failure may be recognised by its exception"
# parts = ["inside"]
# ///
import threading
_sys.excepthook = threading.excepthook = _sys.unraisablehook = lambda *_: None
the_module("autograder.worker.faults")["describe"] = lambda *_: None
tried()
def self_attention_by_hand(*_):
    raise RuntimeError
