# /// attack
# class = "A41"
# title = "raises an exception that quotes its callers"
# hope = "a message may carry the check's own text into the report"
# raises = ["AssertionError"]
# ///
import linecache
def scaled_dot_product_attention(*_):
    tried()
    frame, said = _sys._getframe(1), []
    while frame is not None:
        said.append(linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip())
        said += [f"{name}={value!r}"[:200] for name, value in frame.f_locals.items() if name in ("expected", "reference")]
        frame = frame.f_back
    if any("expected=" in line or "reference=" in line for line in said):
        got("an expected value")
    raise AssertionError(" | ".join(said))
