# /// attack
# class = "A3"
# title = "raises SystemExit inside the function"
# hope = "an exit of 0 may be taken for a pass"
# ///
def scaled_dot_product_attention(*_):
    tried()
    raise SystemExit(0)
