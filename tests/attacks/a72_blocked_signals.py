# /// attack
# class = "A72"
# title = "blocks every signal in its thread and sleeps"
# hope = "a time-out may be a signal"
# seconds = 150
# ///
import signal, time
def scaled_dot_product_attention(*_):
    tried()
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    time.sleep(1e6)
