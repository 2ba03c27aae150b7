# /// attack
# class = "A37"
# title = "reads the variables of all that called it"
# hope = "what is expected may be one of them"
# raises = ["LookupError"]
# ///
def scaled_dot_product_attention(*args):
    tried()
    frame = _sys._getframe(1)
    while frame is not None:
        for space in (frame.f_locals, frame.f_globals):
            for name in ("expected", "reference", "solution", "answer", "answers_key", "nominal", "exact_value"):
                if name in space:
                    got(f"{name} in {frame.f_code.co_name}")
                    return space[name]
        frame = frame.f_back
    raise LookupError
