# /// attack
# class = "A58"
# title = "hands in a zip of 60,000 files"
# hope = "listing them may take for ever"
# where = "intake"
# ///
import zipfile
def hand_in(folder, files, targets):
    with zipfile.ZipFile(folder / f"{targets['student']}.zip", "w") as archive:
        for number in range(60_000):
            archive.writestr(f"{number}/{number}.py", "")
        for name, text in files.items():
            archive.writestr(name, text)
