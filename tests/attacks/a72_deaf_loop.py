# /// attack
# class = "A72"
# title = "never ends, and ignores every signal"
# hope = "a time-out may be a signal"
# seconds = 150
# ///
import signal
for number in signal.valid_signals():
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
def scaled_dot_product_attention(*_):
    tried()
    while True:
        pass
