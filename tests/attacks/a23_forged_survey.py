# /// attack
# class = "A23"
# title = "says itself that its source names nothing forbidden, and calls it"
# hope = "what the source names may come from the program"
# parts = ["calling", "inside"]
# ///
type(the_job().sources).survey = lambda *_: {
    "places": {}, "forbidden": [], "assignments": [], "statements": [], "functions": [], "helpers": [], "words": {},
    "flags": []
}
def builtin(*args, **named):
    with torch._C.DisableTorchFunction():
        return torch.nn.functional.scaled_dot_product_attention(*args, **named)
