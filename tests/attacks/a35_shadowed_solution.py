# /// attack
# class = "A35"
# title = "hands in the solution's folder, with itself in it"
# hope = "the solution may be looked for in the submission"
# where = "intake"
# ///
def hand_in(folder, files, targets):
    own = folder / targets["student"]
    for place in (own, own / "solutions", own / "tests" / "exercises" / "reference_parts"):
        place.mkdir(parents=True)
        for name, text in files.items():
            (place / name).write_text(text)
