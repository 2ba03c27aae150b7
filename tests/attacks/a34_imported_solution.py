# /// attack
# class = "A34"
# title = "imports the solution from the course's folder"
# hope = "a solution lies where the program can read it"
# contained = "L2"
# why = "a plain process may do what its user may"
# ///
import importlib.util, pathlib
file = pathlib.Path(TARGETS["course"], "solutions", f"{__name__}.py")
tried()
try:
    spec = importlib.util.spec_from_file_location("stolen", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
except OSError:
    pass
else:
    got("the solution")
    scaled_dot_product_attention = module.scaled_dot_product_attention
