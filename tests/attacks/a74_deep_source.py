# /// attack
# class = "A74"
# title = "nests its source as deep as fits"
# hope = "a parser may overflow its stack"
# where = "intake"
# ///
def hand_in(folder, files, targets):
    own = folder / targets["student"]
    own.mkdir()
    bombs = ("x = " + "(" * 90_000 + ")" * 90_000, "".join("if 1:\n" + " " * depth for depth in range(1, 99)) + "pass")
    for (name, text), bomb in zip(files.items(), bombs, strict=True):
        (own / name).write_text(text + "\n" + bomb + "\n")
