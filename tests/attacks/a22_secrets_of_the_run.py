# /// attack
# class = "A22"
# title = "prints all that it was told of the run, and looks for the seed in memory"
# hope = "who knows the seed can prepare the answers for a second hand-in"
# parts = ["inside"]
# ///
import gc
tried()
job = the_job().job
print({name: told for name, told in job.items() if name not in ("sources", "reference_parts", "checks")}, flush=True)
for each in [each for each in gc.get_objects() if type(each) is dict and "seed" in each]:
    if type(each["seed"]) is int:
        print("seed", each["seed"], flush=True)
