# /// attack
# class = "A49"
# title = "hands in a torch.py"
# hope = "the next program may import it"
# where = "intake"
# ///
def hand_in(folder, files, targets):
    own = folder / targets["student"]
    own.mkdir()
    for name, text in files.items():
        (own / name).write_text(text)
    for name in ("torch", "numpy", "math", "typing", "autograder", "random"):
        (own / f"{name}.py").write_text("raise SystemExit(0)\n")
        (own / name).mkdir()
        (own / name / "__init__.py").write_text("raise SystemExit(0)\n")
