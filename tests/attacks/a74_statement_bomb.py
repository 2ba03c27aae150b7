# /// attack
# class = "A74"
# title = "has as many statements as fit"
# hope = "looking at each may take for ever"
# where = "intake"
# ///
def hand_in(folder, files, targets):
    own = folder / targets["student"]
    own.mkdir()
    for name, text in files.items():
        (own / name).write_text(text + "\n" + "a=a.a;" * 36_000 + "\n" if False else text + "\ndef f():\n" + " a=0\n" * 40_000)
