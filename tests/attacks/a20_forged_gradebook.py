# /// attack
# class = "A20"
# title = "writes into the database, the tables and the reports it can find"
# hope = "grades may lie where the program can write"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import json, os, pathlib, sqlite3
tried()
for file in (pathlib.Path(TARGETS["report"]), pathlib.Path(TARGETS["course"], f"{TARGETS['mark']}.db")):
    try:
        if file.suffix == ".db":
            sqlite3.connect(file).execute("create table scores (student, score)").connection.commit()
        else:
            with file.open("r+") as stream:
                stream.seek(0, os.SEEK_END)
            got(f"could write to {file.name}")
    except (OSError, sqlite3.Error):
        pass
