# /// attack
# class = "A32"
# title = "has a thread that patches while the checks run"
# hope = "a comparison may run beside it"
# ///
import threading, time
def later():
    while True:
        torch.allclose = torch.equal = lambda *_, **__: True
        Tensor.__eq__ = lambda *_: torch.ones((), dtype=torch.bool)
        time.sleep(0.001)
threading.Thread(target=later, daemon=True).start()
tried()
