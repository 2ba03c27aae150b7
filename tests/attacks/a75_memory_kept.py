# /// attack
# class = "A75"
# title = "takes all the memory there is and swallows the error"
# hope = "the process may go on at the brim"
# ///
HOARD = []
def scaled_dot_product_attention(*_):
    tried()
    while True:
        try:
            HOARD.append(bytearray(1 << 24))
        except MemoryError:
            return None
