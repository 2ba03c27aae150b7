# /// attack
# class = "A74"
# title = "is a source that is hard to parse"
# hope = "what looks at the source may break"
# where = "intake"
# raises = ["RecursionError"]
# ///
def hand_in(folder, files, targets):
    own = folder / targets["student"]
    own.mkdir()
    bombs = ("x = " + "-" * 100_000 + "1\n", "x = y" + ".b" * 60_000 + "\n")
    for (name, text), bomb in zip(files.items(), bombs, strict=True):
        (own / name).write_text(text + "\n" + bomb)
