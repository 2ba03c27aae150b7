# /// attack
# class = "A23"
# title = "sends steps that point nowhere, and lines that do not exist"
# hope = "the judge may follow them"
# parts = ["inside"]
# ///
honest = scaled_dot_product_attention
def scaled_dot_product_attention(*args):
    tried()
    job = the_job()
    if job.job["trace"]:
        at = frame_of("_trial").f_locals["where"]
        steps = [["add", [0], [9**9], [3], "float32", True, [0, 10**9], ["x" * 10_000, 1e308]]] * 50
        places = [[0, "f" * 10_000, -5, 10**15, -3, 10**15]] * 50
        send({"event": "traced", **at, "files": ["/etc/passwd"], "places": places, "steps": steps, "results": [-1],
              "prints": {"array": ["float64", [1, 15], "cpu", 0, 120]}}, bytes(120))
    return honest(*args)
