# /// attack
# class = "A39"
# title = "reads what lies beside the solutions"
# hope = "a program sees the disk as its user does"
# contained = "L2"
# why = "a plain process may do what its user may"
# raises = ["FileNotFoundError"]
# ///
tried()
print(open(TARGETS["solution"]).read(), flush=True)
