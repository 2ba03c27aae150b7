# /// attack
# class = "A76"
# title = "fills /dev/shm"
# hope = "it is memory that outlives the process"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
tried()
try:
    with open(f"/dev/shm/{TARGETS['mark']}", "wb") as file:
        for _ in range(8):
            file.write(bytes(1 << 20))
except OSError:
    pass
