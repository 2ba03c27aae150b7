# /// attack
# class = "A57"
# title = "returns arrays of objects"
# hope = "they may be saved or loaded with pickle"
# ///
import numpy
def scaled_dot_product_attention(*_):
    tried()
    array = numpy.array([{}, []], dtype=object)
    return array, array
