# /// attack
# class = "A73"
# title = "sleeps in every check, then where it cannot be woken"
# hope = "each check is waited for as long as the first"
# seconds = 150
# ///
import signal, time
signal.signal(signal.SIGXCPU, signal.SIG_IGN)
for _name in [name for name, value in globals().items() if callable(value) and name != "tried"]:
    globals()[_name] = lambda *_, **__: (tried(), time.sleep(1e6))
