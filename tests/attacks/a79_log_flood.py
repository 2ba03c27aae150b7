# /// attack
# class = "A79"
# title = "prints without an end"
# hope = "the log may fill the report or the disk"
# ///
def scaled_dot_product_attention(*_):
    tried()
    while True:
        print("spam " * 4000)
