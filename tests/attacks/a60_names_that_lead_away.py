# /// attack
# class = "A60"
# title = "hands in under a name that is a formula, a path or a control sequence"
# hope = "a name becomes the name of a report and a cell of a table"
# where = "intake"
# seconds = 180
# ///
def hand_in(folder, files, targets):
    for student in ("=1+cmd()", "..\\..\\x", "-rf", "a\nb", "\x1b[2Jclear", "evil\u202etxt", "con", ". .", "x" * 250, "@SUM(A1)"):
        own = folder / student
        own.mkdir()
        for name, text in files.items():
            (own / name).write_text(text)
