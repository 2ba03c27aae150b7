# /// attack
# class = "A74"
# title = "hands in 10 MB of source"
# hope = "reading or parsing it may take for ever"
# where = "intake"
# ///
def hand_in(folder, files, targets):
    own = folder / targets["student"]
    own.mkdir()
    for name, text in files.items():
        (own / name).write_text(text + "\nx = 1" * 1_700_000)
