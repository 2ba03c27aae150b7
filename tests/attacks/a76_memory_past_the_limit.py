# /// attack
# class = "A76"
# title = "writes into memory that no limit of addresses sees"
# hope = "files without a name, and shared memory"
# ///
import mmap, os
tried()
try:
    file = os.memfd_create(TARGETS["mark"])
    written = 0
    while written < 200 << 20:
        written += os.write(file, bytes(1 << 20))
    got(f"{written >> 20} MiB past the limit")
except OSError:
    pass
