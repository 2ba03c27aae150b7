# /// attack
# class = "A82"
# title = "recurses until the stack of C is gone"
# hope = "the interpreter crashes"
# ///
def scaled_dot_product_attention(*args):
    tried()
    _sys.setrecursionlimit(10**9)
    class Deep:
        def __repr__(self): return repr([self])
        def __eq__(self, other): return [self] == [other]
    value = []
    for _ in range(10**6):
        value = [value]
    return repr(value), Deep() == Deep()
