# /// attack
# class = "A36"
# title = "looks for functions and sources of a solution in memory"
# hope = "the solution may have run in this process"
# ///
import gc, types
tried()
for item in gc.get_objects():
    if isinstance(item, types.FunctionType) and item.__name__ == "scaled_dot_product_attention" and item.__module__ != __name__:
        got(f"a function of {item.__module__}")
    if isinstance(item, dict) and any("BEGIN SOLUTION" in str(value)[:100_000] for key, value in list(item.items())
                                      if key not in ("sources",) and isinstance(value, (bytes, str)) and "BEGIN" + " SOLUTION" in str(value)
                                      and value is not globals().get("__doc__") and __name__ not in str(key)
                                      and "ex04" not in str(key)):
        got("the text of a solution")
