# /// attack
# class = "A23"
# title = "sends a trace as long as a frame may be"
# hope = "the judge may search it for ever"
# parts = ["inside"]
# ///
import array
honest = scaled_dot_product_attention
def scaled_dot_product_attention(*args):
    tried()
    job = the_job()
    if job.job["trace"]:
        at = frame_of("_trial").f_locals["where"]
        number = 1500
        steps = [["mul", [0], [0] if i else [], [7, 9], "float32", True, [i, 1], None] for i in range(number)]
        data = array.array("d", [1.0 + i / 7 for i in range(number * 15)]).tobytes()
        send({"event": "traced", **at, "files": [f"{__name__}.py"], "places": [[0, "f", 1, 1, 0, 5]],
              "steps": steps, "results": [number - 1] * 16,
              "prints": {"array": ["float64", [number, 15], "cpu", 0, len(data)]}}, data)
    return honest(*args)
