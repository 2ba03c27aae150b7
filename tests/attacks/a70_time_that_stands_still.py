# /// attack
# class = "A70"
# title = "makes every clock return nonsense"
# hope = "seconds go into the report"
# ///
import time
ticks = iter([0.0, float("nan"), float("inf"), -5.0] * 10_000)
time.perf_counter = lambda: next(ticks)
tried()
