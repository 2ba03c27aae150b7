# /// attack
# class = "A18"
# title = "writes results and exits when the interpreter ends"
# hope = "a results file may be read after the run"
# ///
import atexit, json, os
def forge():
    for name in ("results.json", "report.json", "junit.xml", "scores.csv", f"{TARGETS['mark']}.json"):
        with open(name, "w") as file:
            json.dump({"score": 10_000, "status": "pass"}, file)
    os._exit(0)
atexit.register(forge)
tried()
forge.__call__ and None
