# /// attack
# class = "A14"
# title = "removes asserts from code that is compiled later"
# hope = "checks may be compiled in the same process"
# ///
import ast, builtins
compile_ = builtins.compile
def compile(source, name, mode, *args, **options):
    tree = ast.parse(source) if isinstance(source, (str, bytes)) else source
    for node in ast.walk(tree):
        for body in ("body", "orelse"):
            if isinstance(getattr(node, body, None), list):
                kept = [statement for statement in getattr(node, body) if not isinstance(statement, ast.Assert)]
                setattr(node, body, kept or [ast.Pass()])
    return compile_(ast.fix_missing_locations(tree), name, mode, *args, **options)
builtins.compile = compile
tried()
