# /// attack
# class = "A23"
# title = "sends steps with endless stacks, shapes and inputs"
# hope = "each step may keep the judge busy"
# parts = ["inside"]
# ///
import array
honest = scaled_dot_product_attention
def scaled_dot_product_attention(*args):
    tried()
    job = the_job()
    if job.job["trace"]:
        at = frame_of("_trial").f_locals["where"]
        steps = [["mul", [0] * 4000, [], [1] * 4000, "float32", True, [0, 1], None],
                 ["mul", [0], [0] * 4000, [2], "float32", True, [0, 1], None]]
        data = array.array("d", [1.0] * 15).tobytes()
        send({"event": "traced", **at, "files": [f"{__name__}.py"], "places": [[0, "f", 1, 1, 0, 5]],
              "steps": steps, "results": [1], "prints": {"array": ["float64", [1, 15], "cpu", 0, len(data)]}}, data)
    return honest(*args)
