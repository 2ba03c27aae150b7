# /// attack
# class = "A73"
# title = "reads its input for ever"
# hope = "it may read what the judge writes"
# seconds = 150
# ///
def scaled_dot_product_attention(*_):
    tried()
    while True:
        _sys.stdin.buffer.read()
