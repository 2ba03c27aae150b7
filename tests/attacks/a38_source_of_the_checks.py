# /// attack
# class = "A38"
# title = "prints the source of the checks it is run by"
# hope = "the checks may be secret"
# parts = ["inside"]
# ///
tried()
print(len(the_job().job["checks"]), "files of checks, which every student has", flush=True)
if set(the_job().job["checks"]) - {"test_ex04_masks.py", "test_ex05_attention.py"}:
    got("checks that do not run here")
if the_job().job["reference_parts"]:
    got("reference parts in a run without any")
