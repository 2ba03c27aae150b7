#!/usr/bin/env python3
"""merge.py PLAN: merge and move modules of autograder/ in the current tree, and rewrite every import."""
import ast, re, subprocess, sys, textwrap, importlib.util
from collections import defaultdict
from pathlib import Path

DRY = "--dry" in sys.argv
spec = importlib.util.spec_from_file_location("plan", sys.argv[1]); P = importlib.util.module_from_spec(spec); spec.loader.exec_module(P)
ROOT = Path("autograder")
def modname(p): return ".".join(p.with_suffix("").parts).removesuffix(".__init__")
SKIP = ("autograder/authoring/skeleton",)
OLD = {modname(p): p for p in sorted(ROOT.rglob("*.py")) if not str(p).startswith(SKIP)}
SRC = {m: p.read_bytes() for m, p in OLD.items()}
TREE = {m: ast.parse(s) for m, s in SRC.items()}
IS_PKG = {m for m, p in OLD.items() if p.name == "__init__.py"}
# plan: PLAN = {new: [old...]}; FACES room docs; RENAME {"old.module:name": "new"}
A = lambda m: m if m.startswith("autograder") else f"autograder.{m}"
GROUP = {A(n): [A(o) for o in olds] for n, olds in P.PLAN.items()}
TO = {}
for n, olds in GROUP.items():
    for o in olds:
        assert o in OLD, f"plan: no module {o}"
        assert o not in TO, f"twice: {o}"
        TO[o] = n
for m in OLD:
    if m in TO: continue
    if m in IS_PKG: TO[m] = None  # replaced by a face
    else: TO[m] = m; GROUP.setdefault(m, []).append(m)
KEEP_PKG = {A(m) for m in P.KEEP_INIT}
for m in KEEP_PKG: TO[m] = m; GROUP[m] = [m]
RENAME = {tuple(k.split(":")) if k.startswith("autograder") else (A(k.split(":")[0]), k.split(":")[1]): v for k, v in P.RENAME.items()}

def room(m): return ".".join(m.split(".")[:2])
NEWPKG = {".".join(n.split(".")[:i]) for n in GROUP for i in range(1, n.count(".") + 1)} | KEEP_PKG

# --- symbol resolution in the old world
def top_statements(tree):
    for s in tree.body:
        if isinstance(s, ast.If) and "TYPE_CHECKING" in ast.unparse(s.test): 
            for c in s.body: yield c, True
        else: yield s, False
DEFS = {}; IMPORTS = {}
def target_names(t):
    if isinstance(t, ast.Name) and isinstance(t.ctx, (ast.Store, ast.Del)): yield t.id
    if isinstance(t, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)): return
    for c in ast.iter_child_nodes(t): yield from target_names(c)
for m, tree in TREE.items():
    d, im = set(), {}
    for s, tc in top_statements(tree):
        if isinstance(s, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)): d.add(s.name)
        elif isinstance(s, ast.ImportFrom):
            assert not s.level
            for a in s.names: im[a.asname or a.name] = (s.module, a.name, tc)
        elif isinstance(s, ast.Import):
            for a in s.names: im[a.asname or a.name.split(".")[0]] = (a.name if a.asname else a.name.split(".")[0], None, tc)
        else:
            for n in target_names(s): d.add(n)
            for c in ast.walk(s):
                if isinstance(c,(ast.Import,ast.ImportFrom)): print("NESTED top import", m, ast.unparse(c))
    DEFS[m], IMPORTS[m] = d, im
DROP = {tuple(x.split(":")) for x in P.DROP}
DROP = {(A(a), b) for a, b in DROP}
for m_, n_ in DROP: assert n_ in DEFS[m_], (m_, n_)
def resolve(module, name):
    """Identity of `from module import name`."""
    if f"{module}.{name}" in OLD and name not in DEFS.get(module, ()) and name not in IMPORTS.get(module, {}): return ("mod", f"{module}.{name}")
    if module not in OLD: return ("ext", module, name)
    if name in DEFS[module]: return ("sym", module, name)
    if name in IMPORTS[module]:
        mo, na, _ = IMPORTS[module][name]
        if na is None: return ("ext", mo, None)
        return resolve(mo, na)
    return ("sym?", module, name)
def identity(m, mo, na):
    if na is None: return ("mod", mo) if mo in OLD and mo != "autograder" else ("ext", mo, None)
    return resolve(mo, na) if mo.split(".")[0] == "autograder" else ("ext", mo, na)
def final(sym): return RENAME.get((sym[1], sym[2]), sym[2])

PROBLEMS = []
def problem(*a): PROBLEMS.append(" ".join(map(str, a)))

# --- scopes
class Scopes(ast.NodeVisitor):
    """Collect, for every Name node, the chain of function scopes that bind names around it."""
    def __init__(self, tree):
        self.stack, self.names, self.hidden, self.attrs, self.type_strings = [], [], [], [], []
        self.visit(tree)
    def bindings(self, fn):
        out, glob = set(), set()
        args = fn.args; 
        for a in [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]: out.add(a.arg)
        def walk(n):
            for c in ast.iter_child_nodes(n):
                if isinstance(c, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)): out.add(c.name); 
                elif isinstance(c, ast.Lambda): continue
                elif isinstance(c, ast.Name) and isinstance(c.ctx, (ast.Store, ast.Del)): out.add(c.id)
                elif isinstance(c, (ast.Import, ast.ImportFrom)):
                    pass  # handled apart
                elif isinstance(c, ast.Global): glob.update(c.names)
                elif isinstance(c, ast.ExceptHandler) and c.name: out.add(c.name); walk(c); continue
                elif isinstance(c, (ast.MatchAs, ast.MatchStar)) and c.name: out.add(c.name); walk(c); continue
                elif isinstance(c, ast.MatchMapping) and c.rest: out.add(c.rest); walk(c); continue
                if not isinstance(c, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)): walk(c)
        body = fn.body if isinstance(fn.body, list) else [fn.body]
        for s in body:
            holder = ast.Module(body=[s], type_ignores=[]) if isinstance(s, ast.stmt) else ast.Expression(body=s)
            walk(holder)
        return out - glob
    def visit_fn(self, n):
        for x in [*getattr(n, "decorator_list", []), *n.args.defaults, *[d for d in n.args.kw_defaults if d]]: self.visit(x)
        for a in [*n.args.posonlyargs, *n.args.args, *n.args.kwonlyargs, *filter(None, (n.args.vararg, n.args.kwarg))]:
            if a.annotation: self.visit(a.annotation)
        if getattr(n, "returns", None): self.visit(n.returns)
        self.stack.append((n, self.bindings(n)))
        for s in (n.body if isinstance(n.body, list) else [n.body]): self.visit(s)
        self.stack.pop()
    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_fn
    def visit_comp(self, n):
        out = set()
        for g in n.generators: out.update(target_names(g.target))
        self.stack.append((n, out)); self.generic_visit(n); self.stack.pop()
    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_comp
    def bound_locally(self, name): return any(name in b for _, b in self.stack)
    def fns(self): return [n for n, _ in self.stack if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    def visit_Name(self, n): self.names.append((n, self.bound_locally(n.id), self.fns(), [b for _, b in self.stack]))
    def visit_Attribute(self, n):
        if isinstance(n.value, ast.Name): self.attrs.append((n, self.bound_locally(n.value.id), self.fns(), [b for _, b in self.stack]))
        self.generic_visit(n)
    def visit_Import(self, n):
        if self.fns(): self.hidden.append((n, self.fns()))
    visit_ImportFrom = visit_Import

class Text:
    def __init__(self, src):
        self.src = src; self.starts = [0]
        for i, b in enumerate(src):
            if b == 10: self.starts.append(i + 1)
        self.edits = []
    def at(self, line, col): return self.starts[line - 1] + col
    def span(self, n): return self.at(n.lineno, n.col_offset), self.at(n.end_lineno, n.end_col_offset)
    def replace(self, a, b, new): self.edits.append((a, b, new.encode()))
    def drop_lines(self, n):
        a = self.at(n.lineno, 0); b = self.starts[n.end_lineno] if n.end_lineno < len(self.starts) else len(self.src)
        self.edits.append((a, b, b""))
    def result(self, lo=0, hi=None):
        out, at = [], lo
        for a, b, new in sorted(set(self.edits)):
            assert a >= at, (self.src[a-40:b+40], new)
            out += [self.src[at:a], new]; at = b
        out.append(self.src[at:hi if hi is not None else len(self.src)])
        return b"".join(out).decode()

FACE = defaultdict(lambda: defaultdict(set))  # room -> new module -> names
def where(sym, importer_room, tests=False):
    """Dotted module to import a symbol from."""
    new = TO[sym[1]]
    if new is None: problem("symbol of an __init__", sym); new = sym[1]
    r = room(new)
    if new == r: return new  # room of one module, or kept __init__
    if r == importer_room: return new
    FACE[r][new].add(final(sym)) if not tests else None
    if tests and final(sym) not in FACE[r].get(new, ()): return new
    return r

def stmt_import(modname, names):
    return f"from {modname} import {', '.join(sorted(names))}"

def rewrite(m, src, tree, importer_room, own_new, tests=False):
    """Return Text with edits; global imports to add: set of (module, name, asname, tc); locals known."""
    t = Text(src); sc = Scopes(tree)
    env, mods, out = {}, {}, set()
    renames = {}  # local global name -> new name
    keep_ext = []
    used_attr_of = defaultdict(set)
    if m in DEFS:
        for n in DEFS[m]:
            f = final(("sym", m, n))
            if f != n: renames[n] = f
    for s, tc in top_statements(tree):
        if isinstance(s, ast.ImportFrom) and s.module == "__future__": out.add(("__future__", "annotations", None, False)); t.drop_lines(s); continue
        if isinstance(s, (ast.Import, ast.ImportFrom)):
            for a in s.names:
                local = a.asname or (a.name if isinstance(s, ast.ImportFrom) else a.name.split(".")[0])
                mo, na = (s.module, a.name) if isinstance(s, ast.ImportFrom) else ((a.name if a.asname else a.name.split(".")[0]), None)
                if isinstance(s, ast.Import) and not a.asname and "." in a.name:
                    out.add((a.name, None, None, tc)); 
                    if a.name.startswith("autograder."): problem("plain import", m, a.name)
                    continue
                i = identity(m, mo, na)
                if i[0] == "sym":
                    f = final(i)
                    if TO[i[1]] == own_new and not tests:
                        if f != local: renames[local] = f
                    else:
                        # keep an alias only if the local alias was chosen and differs
                        if a.asname and a.asname != na: out.add((where(i, importer_room, tests), f, a.asname, tc))
                        else:
                            if f != local: renames[local] = f
                            out.add((where(i, importer_room, tests), f, None, tc))
                elif i[0] == "mod": mods[local] = (i[1], tc)
                elif i[0] == "sym?":
                    problem("unresolved", m, i); out.add((mo, na, a.asname, tc))
                else: out.add((mo, na, a.asname, tc))
            if not tests or True: t.drop_lines(s)
    for s in tree.body:
        if isinstance(s, ast.If) and "TYPE_CHECKING" in ast.unparse(s.test):
            t.edits = [e for e in t.edits if not (t.at(s.lineno,0) <= e[0] < t.at(s.end_lineno, 0) + 1)]
            t.drop_lines(s)
    # hidden imports
    hidden_env = []  # (fn, local, ident)
    for s, fns in sc.hidden:
        keep, drop = [], 0
        for a in s.names:
            mo, na = (s.module, a.name) if isinstance(s, ast.ImportFrom) else (a.name, None)
            i = identity(m, mo, na) if (na or a.asname) else ("ext",)
            local = a.asname or a.name
            if i[0] == "sym":
                f = final(i)
                if TO[i[1]] == own_new and not tests:
                    drop += 1
                    if local != f: hidden_env.append((fns[-1], local, ("name", f)))
                elif (a.asname and a.asname != na): keep.append((where(i, importer_room, tests), f, a.asname))
                else:
                    keep.append((where(i, importer_room, tests), f, None))
                    if f != local: hidden_env.append((fns[-1], local, ("name", f)))
            elif i[0] == "mod" : hidden_env.append((fns[-1], local, ("mod", i[1], s))); 
            else: keep.append((mo, na, a.asname))
        s._keep = keep
        s._changed = any(k[0] != getattr(s, "module", None) or True for k in keep)
    # module attributes
    add_hidden = defaultdict(set)
    def shadowed(name, chain): return any(name in b for b in chain)
    done_names = set()
    for n, bound, fns, chain in sc.attrs:
        local = n.value.id
        if bound: continue
        hid = next((h for h in hidden_env if h[0] in fns and h[1] == local and h[2][0] == "mod"), None)
        modn = hid[2][1] if hid else mods.get(local, (None,))[0]
        if modn is None: continue
        i = resolve(modn, n.attr)
        if tests and i[0] in ("ext", "sym?") and TO.get(modn):
            done_names.add(id(n.value)); new = TO[modn]; short = new.rsplit(".", 1)[1]
            (add_hidden[id(hid[2][2])] if hid else out).add((new.rsplit(".", 1)[0], short, local if local != short else None) + (() if hid else (mods[local][1],)))
            continue
        if i[0] == "ext" or i[0] == "sym?": problem("attribute", m, local, n.attr, i, f"line {n.lineno}"); continue
        if i[0] == "mod": problem("module attribute is a module", m, ast.unparse(n)); continue
        if tests or modn in KEEPMOD or modn.count(".") == 1 and modn in IS_PKG:  # keep module objects: patches need them
            done_names.add(id(n.value)); 
            new = TO[i[1]]; short = new.rsplit(".", 1)[1]
            if not tests and modn in IS_PKG: new = modn; short = modn.split(".")[1]
            keepas = local
            a, b = t.span(n); 
            f = final(i); t.replace(a, b, f"{keepas}.{f}")
            (add_hidden[id(hid[2][2])] if hid else out).add((new.rsplit(".", 1)[0], short, keepas if keepas != short else None) + (() if hid else (mods[local][1],)))
            used_attr_of[local].add(new)
            continue
        f = final(i)
        done_names.add(id(n.value))
        name = f
        if shadowed(f, chain): 
            name = f"{local}_{f.lstrip('_')}"; problem("NOTE shadowed", m, f"line {n.lineno}", ast.unparse(n), "->", name)
        elif TO[i[1]] != own_new and (f in DEFS.get(m, ()) and (m, f) != (i[1], i[2])): 
            name = f"{local}_{f.lstrip('_')}"; problem("NOTE clash", m, f"line {n.lineno}", ast.unparse(n), "->", name)
        elif f in IMPORTS.get(m, {}) and identity(m, *IMPORTS[m][f][:2]) != i:
            name = f"{local}_{f.lstrip('_')}"; problem("NOTE import clash", m, f"line {n.lineno}", ast.unparse(n), "->", name)
        a, b = t.span(n); t.replace(a, b, name)
        if TO[i[1]] == own_new and name == f: pass
        else:
            entry = (where(i, importer_room, tests), f, name if name != f else None)
            if hid: add_hidden[id(hid[2][2])].add(entry)
            else: out.add(entry + (mods[local][1],))
    for loc, news in used_attr_of.items():
        if len(news) > 1: problem("module alias of several", m, loc, news)
    # other uses of a module name
    for n, bound, fns, chain in sc.names:
        if bound or id(n) in done_names: continue
        hid = next((h for h in hidden_env if h[0] in fns and h[1] == n.id), None)
        if hid and hid[2][0] == "name":
            a, b = t.span(n); t.replace(a, b, hid[2][1]); continue
        if hid or n.id in mods:
            modn = hid[2][1] if hid else mods[n.id][0]
            new = TO[modn]
            if new is None:
                if modn.count(".") == 1:
                    (add_hidden[id(hid[2][2])] if hid else out).add(("autograder", modn.split(".")[1], n.id if n.id != modn.split(".")[1] else None) + (() if hid else (mods[n.id][1],)))
                else: problem("module object of a package", m, n.id)
                continue
            (add_hidden[id(hid[2][2])] if hid else out).add((new.rsplit(".", 1)[0], new.rsplit(".", 1)[1], n.id if n.id != new.rsplit(".",1)[1] else None) + (() if hid else (mods[n.id][1],)))
            if not tests: problem("NOTE module object", m, n.id, f"line {n.lineno}")
            continue
        if n.id in renames:
            a, b = t.span(n); t.replace(a, b, renames[n.id])
            if shadowed(renames[n.id], chain): problem("rename is shadowed", m, n.id, renames[n.id], n.lineno)
    # def names
    for s in ast.walk(tree):
        if isinstance(s, ast.Global):
            for g in s.names:
                if g in renames: problem("global statement", m, g)
    for s in tree.body:
        if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and s.name in renames:
            a = t.at(s.lineno, s.col_offset); k = src.index(s.name.encode(), a); t.replace(k, k + len(s.name.encode()), renames[s.name])
    # strings equal to quoted annotations with renamed names
    for n in ast.walk(tree):
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and n.value in renames: problem("NOTE string", m, n.value)
    # write hidden imports
    for s, fns in sc.hidden:
        if not any("autograder" in (getattr(s, "module", "") or a.name) for a in s.names): continue
        items = list(s._keep) + sorted(add_hidden.get(id(s), ()), key=str)
        lines = defaultdict(list)
        for mo, na, asn in items:
            if na is None: lines[(mo, None)].append(f"import {mo}" + (f" as {asn}" if asn else ""))
            else: lines[(mo, 1)].append(na + (f" as {asn}" if asn else ""))
        indent = " " * s.col_offset
        text = "".join(indent + (x[0] if k[1] is None else f"from {k[0]} import {', '.join(dict.fromkeys(x))}") + "\n" for k, x in lines.items())
        a = t.at(s.lineno, 0); b = t.starts[s.end_lineno] if s.end_lineno < len(t.starts) else len(src)
        if src[a:b].decode() != text: t.edits.append((a, b, text.encode()))
    return t, out

KEEPMOD = {A(x) for x in getattr(P, "KEEPMOD", ())}

# --- order inside groups
def runtime_deps(m):
    out = set()
    for mo, na, tc in IMPORTS[m].values():
        if tc: continue
        i = identity(m, mo, na)
        if i[0] in ("sym", "sym?"): out.add(i[1])
        elif i[0] == "mod": out.add(i[1])
    return out
def ordered(olds):
    left, out = list(olds), []
    while left:
        free = next((o for o in left if not (runtime_deps(o) & (set(left) - {o}))), None)
        if free is None: problem("cycle inside group", left); return out + left
        out.append(free); left.remove(free)
    return out

# --- assemble
def comment(doc):
    doc = textwrap.dedent(doc).strip()
    lines = []
    for para in doc.split("\n\n"):
        if any(l.startswith((" ", "|", "-", ">")) for l in para.split("\n")): lines += [x for l in para.split("\n") for x in (textwrap.wrap("# " + l, 118, subsequent_indent="#            ") if l else ["#"])]
        else: lines += ["# " + l for l in textwrap.wrap(" ".join(para.split()), 116)]
        lines.append("#")
    return "\n".join(lines[:-1])

NEW = {}; OUTS = {}
bindings = {}
for new, olds in GROUP.items():
    olds = ordered(olds)
    own_room = room(new)
    imports, bodies = set(), []
    table = {}
    for o in olds:
        t, out = rewrite(o, SRC[o], TREE[o], own_room, new)
        doc = ast.get_docstring(TREE[o], clean=True) or ""
        for i_, s_ in enumerate(TREE[o].body):
            if any((o, n) in DROP for n in ([s_.name] if hasattr(s_, "name") else target_names(s_))):
                t.edits = [e for e in t.edits if not (t.at(s_.lineno, 0) <= e[0] <= t.at(s_.end_lineno, 0))]
                t.drop_lines(s_)
                nx = TREE[o].body[i_ + 1] if i_ + 1 < len(TREE[o].body) else None
                if isinstance(nx, ast.Expr) and isinstance(nx.value, ast.Constant): t.drop_lines(nx)
        if TREE[o].body and isinstance(TREE[o].body[0], ast.Expr) and isinstance(TREE[o].body[0].value, ast.Constant): t.drop_lines(TREE[o].body[0])
        body = t.result().strip("\n")
        bodies.append((o, doc, body)); 
        local = {}
        for mo, na, asn, tc in out:
            if na is not None or asn: local[asn or na] = (mo, na)
            else: local[mo.split(".")[0]] = (mo.split(".")[0], None)
        for n in DEFS[o]:
            if (o, n) not in DROP: local[final(("sym", o, n))] = ("def", o, n)
        for k, v in local.items():
            if k in table and table[k][0] != v: problem("COLLISION", new, k, table[k], (v, o))
            table.setdefault(k, (v, o))
        # an import from the own new module that survived
        imports |= {x for x in out}
    imports = {x for x in imports if not (x[0] == new)}
    head = P.DOC.get(new.removeprefix("autograder."))
    if head is None:
        head = bodies[-1][1] if len(bodies) == 1 else None
        if head is None: head = next(d for o, d, _ in bodies if o == GROUP[new][0]); 
    docs = f'"""{head}\n"""' if "\n" in head else f'"""{head}"""'
    rt = {x[:3] for x in imports if not x[3]}; tc = {x[:3] for x in imports if x[3]} - rt
    def lines(items):
        by = defaultdict(list); res = []
        for mo, na, asn in sorted(items, key=str):
            if na is None: res.append(f"import {mo}" + (f" as {asn}" if asn else ""))
            else: by[mo].append(na + (f" as {asn}" if asn else ""))
        return res + [f"from {mo} import {', '.join(ns)}" for mo, ns in by.items()]
    if tc: rt.add(("typing", "TYPE_CHECKING", None))
    text = docs + "\n\n" + "\n".join(lines(rt)) + "\n"
    if tc: text += "\nif TYPE_CHECKING:\n" + "\n".join("    " + l for l in lines(tc)) + "\n"
    for k, (o, doc, body) in enumerate(bodies):
        if not body: continue
        text += "\n\n"
        if len(bodies) > 1 and doc != head: text += f"{comment(doc)}\n\n"
        text += body + "\n"
    NEW[new] = text
    OUTS[new] = rt

# --- other importers: tests, benchmarks, play, examples, docs
OTHER = [p for b in ("play", "examples", "benchmarks", "docs", "solutions", "tests") for p in sorted(Path(b).rglob("*.py"))]
OTHER_TEXT = {}
for p in OTHER:
    src = p.read_bytes()
    if b"autograder" not in src: continue
    try: tree = ast.parse(src)
    except SyntaxError: continue
    has = any(isinstance(n, ast.ImportFrom) and (n.module or "").split(".")[0] == "autograder" or isinstance(n, ast.Import) and any(a.name.startswith("autograder.") for a in n.names) for n in ast.walk(tree))
    if not has: continue
    OTHER_TEXT[p] = (src, tree)
for p, (src, tree) in list(OTHER_TEXT.items()):
    m = str(p)
    course_code = m.startswith(("tests/exercises/", "examples/", "solutions/", "tests/support/tiny_course", "tests/support/plain_course"))
    if course_code and all(n.module.count(".") <= 1 for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and (n.module or "").startswith("autograder")):
        del OTHER_TEXT[p]; continue
    strict = not m.startswith("tests/autograder") and not m.startswith("tests/support") and not m.startswith("tests/proof") and not m.startswith("tests/fuzz") and not m.startswith("benchmarks") and not m.startswith("tests/compat")
    t, out = rewrite(m, src, tree, "", "", tests=not m.startswith(("play/", "examples/", "tests/exercises")))
    # only rewrite the engine's imports: put them where the first engine import stood
    OTHER_TEXT[p] = (t, out, src, tree)

FACES_TEXT = {}
CAND = {r for r in FACE}

if __name__ == "__main__":
    pass

def others_result(p):
    t, out, src, tree = OTHER_TEXT[p]
    # restore external imports untouched: drop the edits of statements without engine imports
    keep, first = [], None
    ext = set()
    for s, tc in top_statements(tree):
        if isinstance(s, (ast.Import, ast.ImportFrom)):
            mine = (isinstance(s, ast.ImportFrom) and (s.module or "").split(".")[0] == "autograder") or (isinstance(s, ast.Import) and any(a.name.startswith("autograder.") and a.asname for a in s.names))
            a = t.at(s.lineno, 0)
            if not mine: t.edits = [e for e in t.edits if not (e[0] == a and e[2] == b"")]
            elif first is None or tc: first = first if first is not None else s
    for s in tree.body:
        if isinstance(s, ast.If) and "TYPE_CHECKING" in ast.unparse(s.test): problem("TYPE_CHECKING in", p)
    mine = {x for x in out if x[0].split(".")[0] == "autograder" and not (x[1] is None)}
    by = defaultdict(list)
    for mo, na, asn, tc in sorted(mine, key=str): by[mo].append(na + (f" as {asn}" if asn else ""))
    text = "".join(f"from {mo} import {', '.join(dict.fromkeys(ns))}\n" for mo, ns in by.items())
    if first is not None:
        a = t.at(first.lineno, 0)
        t.edits = [(x, y, text.encode()) if x == a and z == b"" else (x, y, z) for x, y, z in t.edits]
    elif text: problem("no place for imports", p, text)
    return t.result()

for m_ in IS_PKG:
    if TO[m_] is not None or m_.count(".") != 1: continue
    for s_ in TREE[m_].body:
        if isinstance(s_, ast.Assign) and getattr(s_.targets[0], "id", "") == "__all__":
            for n_ in ast.literal_eval(s_.value):
                i_ = resolve(m_, n_)
                if i_[0] == "sym": where(i_, "")
for r_, x_ in getattr(P, "FACE_EXTRA", {}).items():
    for mo_, ns_ in x_.items(): FACE[A(r_)][A(mo_)].update(ns_)
# --- cycles between new modules (names resolved to where they are defined)
graph = defaultdict(set)
for new, rt in OUTS.items():
    for mo, na, asn in rt:
        if mo.split(".")[0] != "autograder": continue
        if mo in GROUP: graph[new].add(mo)
        elif f"{mo}.{na}" in GROUP: graph[new].add(f"{mo}.{na}")
        elif mo in FACE:
            for n2, names in FACE[mo].items():
                if na in names: graph[new].add(n2)
def sccs(g):
    idx, low, st, on, out, c = {}, {}, [], set(), [], [0]
    sys.setrecursionlimit(5000)
    def go(v):
        idx[v] = low[v] = c[0]; c[0] += 1; st.append(v); on.add(v)
        for w in g.get(v, ()):
            if w not in idx: go(w); low[v] = min(low[v], low[w])
            elif w in on: low[v] = min(low[v], idx[w])
        if low[v] == idx[v]:
            comp = []
            while True:
                w = st.pop(); on.discard(w); comp.append(w)
                if w == v: break
            if len(comp) > 1: out.append(comp)
    for v in list(g): 
        if v not in idx: go(v)
    return out
for comp in sccs(graph): problem("MODULE CYCLE", comp, [(a, b) for a in comp for b in graph[a] if b in comp])
# room cycles / face name clashes
for r, mods_ in FACE.items():
    seen = {}
    for mo, names in mods_.items():
        for n in names:
            if n in seen: problem("FACE CLASH", r, n, seen[n], mo)
            seen[n] = mo
            if n.startswith("_"): problem("private in face", r, n, mo)
    subs = {n.split(".")[2] for n in GROUP if n.startswith(r + ".")}
    for n in seen:
        if n in subs: problem("FACE NAME IS A MODULE", r, n)

if DRY or "-v" in sys.argv:
    for x in PROBLEMS: print(x)
    sizes = sorted(len(v.splitlines()) for v in NEW.values())
    print(len(NEW), "modules, median", sizes[len(sizes)//2], "lines", sum(sizes), {r: sum(len(n) for n in x.values()) for r, x in FACE.items()})
if DRY: sys.exit()

# --- write
texts = {p: others_result(p) for p in OTHER_TEXT}
for m, p in OLD.items(): p.unlink()
for new, text in NEW.items():
    p = Path(*new.split(".")).with_suffix(".py")
    if new in KEEP_PKG: p = Path(*new.split(".")) / "__init__.py"
    p.parent.mkdir(parents=True, exist_ok=True); p.write_text(text)
for pkg in NEWPKG:
    p = Path(*pkg.split(".")) / "__init__.py"
    if p.exists() or pkg == "autograder": continue
    doc = P.FACE_DOC.get(pkg.removeprefix("autograder."), None)
    if doc is None: doc = ast.get_docstring(TREE[pkg]) if pkg in TREE else "TODO"
    if room(pkg) == pkg and FACE.get(pkg):
        body = "".join(f"    from {mo.removeprefix(pkg)} import {', '.join(sorted(names))}\n" for mo, names in sorted(FACE[pkg].items()))
        text = f'"""{doc.strip()}' + ('\n"""' if "\n" in doc.strip() else '"""') + f"\n\nfrom typing import TYPE_CHECKING\n\nfrom autograder.faces import face\n\nif TYPE_CHECKING:\n{body}\n__getattr__ = face(__name__)\n"
    else: text = f'"""{doc.strip()}' + ('\n"""' if "\n" in doc.strip() else '"""') + "\n"
    p.write_text(text)
for p, text in texts.items(): p.write_text(text)
# --- textual references
table = {o: TO[o] for o in OLD if TO[o] and TO[o] != o}
def fix(text):
    for o in sorted(table, key=len, reverse=True):
        n = table[o]
        text = re.sub(re.escape(o) + r"(?![\w])", n, text)
        text = re.sub(r"(?<![\w/.])" + re.escape(o.replace(".", "/")) + r"\.py\b", n.replace(".", "/") + ".py", text)
    return text
files = [p for p in [*Path(".").glob("*.md"), *Path("docs").glob("*.md"), Path("pyproject.toml"), Path("Makefile"), *[p for b in ("tests", "benchmarks", "autograder", "docs") for p in Path(b).rglob("*") if p.suffix in (".py", ".md", ".toml", ".txt") and p.is_file()]]]
for p in files:
    try: a = p.read_text()
    except Exception: continue
    b = fix(a)
    if a != b: p.write_text(b)
for d in sorted(ROOT.rglob("*"), reverse=True):
    if d.is_dir() and d.name != "__pycache__" and not any(x for x in d.rglob("*") if x.is_file() and "__pycache__" not in x.parts): subprocess.run(["rm", "-rf", str(d)])
