# /// attack
# class = "A16 A17"
# title = "hands in conftest.py, pytest.ini and a setup"
# hope = "configuration of a test runner may be read from the submission"
# where = "intake"
# ///
def hand_in(folder, files, targets):
    own = folder / targets["student"]
    own.mkdir()
    for name, text in files.items():
        (own / name).write_text(text)
    (own / "conftest.py").write_text("import os; os._exit(0)\n")
    (own / "pytest.ini").write_text("[pytest]\naddopts = --co\n")
    (own / "course.toml").write_text("title = 'mine'\nseed = 1\n")
    (own / "test_ex05_attention.py").write_text("")
    (own / "sitecustomize.py").write_text("import os; os._exit(0)\n")
