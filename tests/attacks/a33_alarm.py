# /// attack
# class = "A33"
# title = "has an alarm raise, again and again"
# hope = "an exception may interrupt what judges"
# raises = ["AssertionError"]
# ///
import signal
def ring(*_):
    raise AssertionError("passed")
signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
tried()
