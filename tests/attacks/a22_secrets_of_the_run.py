# /// attack
# class = "A22"
# title = "prints the seed it finds on the stack"
# hope = "who knows the seed can prepare the answers for a second hand-in"
# parts = ["inside"]
# contained = "never"
# why = "what a program is given lies in its own memory; keep the log from students while a seed is in use, or take a new seed"
# ///
tried()
job = the_job().job
print("seed", job["seed"], flush=True)
