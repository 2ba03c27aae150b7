# /// attack
# class = "A70"
# title = "behaves until a certain day"
# hope = "a second grading may differ"
# ///
import time
time.time = time.monotonic = time.perf_counter = lambda: 4e9
tried()
