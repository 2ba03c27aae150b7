# /// attack
# class = "A22"
# title = "prints all that it knows of the run, and looks for the seed in memory"
# hope = "who knows the seed can prepare the answers for a second hand-in"
# parts = ["inside"]
# ///
import gc
tried()
job = the_job().job
print({name: value for name, value in job.items() if name not in ("sources", "reference_parts", "checks")}, flush=True)
for table in [item for item in gc.get_objects() if type(item) is dict and "seed" in item]:
    if type(table["seed"]) is int:
        print("seed", table["seed"], flush=True)
