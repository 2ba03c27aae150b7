"""The tables of the operators: what each operator, name, dtype and method is replaced by."""

import ast

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq, ast.LtE, ast.GtE),
    ast.NotEq: (ast.Eq, ast.Lt, ast.Gt),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.FloorDiv: (ast.Mod, ast.Div),
    ast.Mod: (ast.FloorDiv,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
IN_PLACE = {ast.Add: "add_", ast.Sub: "sub_", ast.Mult: "mul_", ast.Div: "div_", ast.BitAnd: "bitwise_and_"}
IN_PLACE_METHODS = {"masked_fill", "clamp", "exp", "relu", "sqrt", "tanh", "sigmoid", "neg", "transpose", "unsqueeze"}
ONE_WAY = (ast.Sub, ast.Div, ast.Pow, ast.FloorDiv, ast.Mod, ast.MatMult)
TRANSPOSES = {"transpose", "permute", "swapaxes", "swapdims", "movedim", "moveaxis"}
TURNED = {"T", "mT", "H", "mH"}
MASKED = {"masked_fill", "masked_fill_", "masked_select", "where"}
NAMES = {
    "sin": "cos",
    "cos": "sin",
    "amax": "amin",
    "argmax": "argmin",
    "sum": "mean",
    "mean": "sum",
    "ones": "zeros",
    "zeros": "ones",
    "ones_like": "zeros_like",
    "zeros_like": "ones_like",
    "full_like": "zeros_like",
    "tril": "triu",
    "triu": "tril",
    "softmax": "log_softmax",
    "log_softmax": "softmax",
    "all": "any",
    "any": "all",
    "min": "max",
    "max": "min",
    "eval": "train",
    "exp": "sigmoid",
    "sqrt": "exp",
    "relu": "tanh",
    "var": "std",
    "append": "extend",
    "popleft": "pop",
    "floor": "ceil",
    "ceil": "floor",
}
DTYPES = {
    "float64": "float32",
    "float32": "float64",
    "float16": "float32",
    "int64": "int32",
    "long": "int",
    "double": "float",
    "half": "float",
}
BUILT_IN = {"min": "max", "max": "min", "all": "any", "any": "all", "sum": "len"}
SYMMETRIC = {"max", "min", "maximum", "minimum", "hypot", "gcd", "isclose", "allclose"}
"""Functions whose result does not depend on the order of the arguments."""

MAKERS = {"zeros", "ones", "full", "arange", "tensor", "empty", "zeros_like", "ones_like", "full_like", "empty_like"}
AXIS_WORDS = {"dim", "axis", "dims", "axes", "dim0", "dim1", "start_dim", "end_dim"}
AXIS_CALLS = {
    *TRANSPOSES,
    *("size", "unsqueeze", "squeeze", "flatten", "unflatten", "sum", "mean", "var", "std", "amax", "amin", "argmax"),
    *("argmin", "softmax", "log_softmax", "cumsum", "gather", "select", "narrow", "chunk", "split"),
}
AT_THE_END = {"detach": "gradient", "float": "dtype", "cpu": "device"}
"""The last call on a result: it cuts the graph, fixes the dtype, or fixes the device."""
