"""ex36: kernels in Triton. Its interpreter runs them, and every address that they read or write is looked at."""

from contextlib import contextmanager

from autograder.checks import Like, Raises, SameInputs, check, picture

SOFTMAX, MATMUL, FUSED = "softmax", "matmul", "linear_gelu"

AS_RETURNED = "result, as programs wrote it and as it was returned"
WORK = Like()  # other checks judge the numbers

STRANGE = 3
"""What memory outside of the tensors holds. On a GPU it holds any numbers, and none of them is known."""

FAR = 2**20
"""How many bytes before and after each tensor belong to no other: so what is outside of one is inside of none."""


class Memory:
    """What the programs of all kernels read and write while it watches.

    A program that leaves the tensors of its kernel reads `STRANGE` there, and what it writes there is lost. Without
    this, the interpreter would read and write the memory of this process. Kernels work on copies far from each other:
    where PyTorch happens to put two tensors changes nothing.
    """

    def __init__(self):
        self.launches = 0
        self.read_outside = 0
        self.written_outside = 0
        self.programs = set()
        self._read = set()
        self._ranges = []
        self._copies = {}
        self._values = {}
        self._owners = {}

    def written(self, result):
        """Return what programs wrote into a tensor, 0 where none did."""
        return self._of(result, self._values)

    def owners(self, result):
        """Return which program wrote each number of a tensor, counted from 1, and 0 where none did."""
        order = {program: float(at) for at, program in enumerate(sorted(self.programs), start=1)}
        return self._of(result, {address: order[program] for address, program in self._owners.items()})

    def read(self, tensor):
        """Return how many numbers of a tensor programs read."""
        return len(self._read.intersection(self._addresses(tensor)))

    def _addresses(self, tensor):
        """Return the address of each number of a tensor, row by row."""
        offsets = [tensor.storage_offset()]
        for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
            offsets = [offset + step * stride for offset in offsets for step in range(size)]
        own = tensor.untyped_storage().data_ptr()
        start = self._copies[own][1].data_ptr() if own in self._copies else own
        return [start + offset * tensor.element_size() for offset in offsets]

    def _of(self, tensor, numbers):
        return tensor.new_tensor([numbers.get(address, 0.0) for address in self._addresses(tensor)]).view(tensor.shape)

    def _apart(self, before, after):
        """Return an argument of a kernel. A tensor is in a copy of its storage that is `FAR` from all others."""
        if not _has_numbers(after):
            return after
        own, size = before.untyped_storage(), after.element_size()
        if own.data_ptr() not in self._copies:
            count = own.nbytes() // size
            around = after.new_empty(count + 2 * FAR // size).untyped_storage()
            copy = after.new_empty(0).set_(around, FAR // size, (count,), (1,))
            self._copies[own.data_ptr()] = before.new_empty(0).set_(own, 0, (count,), (1,)), copy
            self._ranges.append((copy.data_ptr(), copy.data_ptr() + count * size))
        whole, copy = self._copies[own.data_ptr()]
        copy.copy_(whole)
        offset = FAR // size + after.storage_offset()
        return after.new_empty(0).set_(copy.untyped_storage(), offset, after.size(), after.stride())

    @contextmanager
    def watching(self):
        """Watch the programs that run within the block."""
        from triton.runtime import interpreter

        builder, executor = interpreter.interpreter_builder, interpreter.GridExecutor
        load, store = builder.create_masked_load, builder.create_masked_store
        copied, restored = executor._init_args_hst, executor._restore_args_dev

        def arguments(own, args, kwargs):
            found, named = copied(own, args, kwargs)
            self.launches += 1
            found = [self._apart(*pair) for pair in zip(args, found, strict=True)]
            return found, {name: self._apart(kwargs[name], named[name]) for name in named}

        def written_back(_, args, __, kwargs, ___):
            for one in (*args, *kwargs.values()):
                if _has_numbers(one):
                    whole, copy = self._copies[one.untyped_storage().data_ptr()]
                    whole.copy_(copy)

        def outside(pointers, mask):
            size = pointers.get_element_ty().primitive_bitwidth // 8
            addresses, gone = pointers.data.astype("int64"), mask.data
            for start, end in self._ranges:
                gone = gone & ~((start <= addresses) & (addresses + size <= end))
            return gone

        def watched_load(pointers, mask, other, *rest):
            gone = outside(pointers, mask)
            inside = mask.data & ~gone
            self._read.update(pointers.data[inside].astype("int64").tolist())
            found = load(pointers, interpreter.TensorHandle(inside, mask.dtype), other, *rest)
            if gone.any():
                self.read_outside += int(gone.sum())
                found.data = found.data.copy()
                found.data[gone] = STRANGE
            return found

        def watched_store(pointers, value, mask, *rest):
            gone = outside(pointers, mask)
            self.written_outside += int(gone.sum())
            inside, program = mask.data & ~gone, tuple(builder.grid_idx)
            addresses = pointers.data[inside].astype("int64").tolist()
            self._values.update(zip(addresses, value.data[inside].tolist(), strict=True))
            self._owners.update(dict.fromkeys(addresses, program))
            self.programs |= {program} if addresses else set()
            return store(pointers, value, interpreter.TensorHandle(inside, mask.dtype), *rest)

        builder.create_masked_load, builder.create_masked_store = watched_load, watched_store
        executor._init_args_hst, executor._restore_args_dev = arguments, written_back
        try:
            yield
        finally:
            del builder.create_masked_load, builder.create_masked_store
            executor._init_args_hst, executor._restore_args_dev = copied, restored


def _has_numbers(argument):
    return hasattr(argument, "untyped_storage") and argument.untyped_storage().nbytes() > 0


def run(function, *args, **kwargs):
    """Return the result of a launcher, and what its programs did with memory."""
    memory = Memory()
    with memory.watching():
        return function(*args, **kwargs), memory


def result(function, *args, **kwargs):
    return run(function, *args, **kwargs)[0]


def work_of(function, *inputs):
    """Return how much of a result was written by programs of kernels, by how many, and what they read."""
    found, memory = run(function, *inputs)
    return {
        AS_RETURNED: [memory.written(found), found],
        "programs that wrote": len(memory.programs),
        "numbers of the inputs that programs read": sum(memory.read(one) for one in inputs),
    }


def outside_of(memory):
    """Return how many numbers programs read and wrote outside of their tensors."""
    return {"numbers read outside": memory.read_outside, "numbers written outside": memory.written_outside}


def matrix(given, *shape, dtype="float32", **kwargs):
    """Return a matrix of this dtype in the exact run too: the interpreter multiplies no float64 in `tl.dot`."""
    return given.normal(*shape, dtype=dtype, **kwargs).to(getattr(given.torch, dtype))


def rows(given, **kwargs):
    """Return a matrix (T, V)."""
    return given.normal(*given.sizes("T V"), **{"scale": 2.0, **kwargs})


@check("each row becomes exp(x) / sum of exp(x)", points=5, of=SOFTMAX)
def test_softmax(impl, given):
    return {"shares": result(impl.softmax, rows(given))}


@check("a program of a kernel computes each row", points=3, of=SOFTMAX, judge=WORK, idea=True)
def test_softmax_programs(impl, given):
    return work_of(impl.softmax, rows(given))


@check(
    "no softmax program reaches outside of its tensors",
    points=3,
    of=SOFTMAX,
    requires_any=("softmax_programs",),
)
def test_softmax_bounds(impl, given):
    return outside_of(run(impl.softmax, rows(given))[1])


@check("numbers around 500 and -500 do not overflow", points=3, of=SOFTMAX, requires_any=("softmax_programs",))
def test_softmax_large(impl, given):
    shift = given.choice([500.0, 450.0])
    return {
        "shares of large numbers": result(impl.softmax, rows(given, shift=shift)),
        "shares of very negative numbers": result(impl.softmax, rows(given, shift=-shift)),
    }


@check("1, 16 and 33 columns", points=2, of=SOFTMAX, trials=1, requires_any=("softmax_programs",))
def test_softmax_widths(impl, given):
    return {f"{columns} columns": result(impl.softmax, given.normal(2, columns)) for columns in (1, 16, 33)}


@check("views: a transposed matrix, and every second column", points=3, of=SOFTMAX, requires_any=("softmax_programs",))
def test_softmax_views(impl, given):
    T, V = given.sizes("T V")
    return {
        "shares of a transposed matrix": result(impl.softmax, given.normal(V, T).t()),
        "shares of every second column": result(impl.softmax, given.normal(T, 2 * V)[:, ::2]),
    }


@check("float16 and bfloat16 stay what they are", points=1, of=SOFTMAX, requires_any=("softmax_programs",))
def test_softmax_dtypes(impl, given):
    return {
        "shares in float16": result(impl.softmax, rows(given, dtype="float16")),
        "shares in bfloat16": result(impl.softmax, rows(given, dtype="bfloat16")),
    }


def matrices(given, **kwargs):
    """Return matrices (R, V) and (V, F)."""
    R, V, F = given.sizes("R V F")
    return matrix(given, R, V, **kwargs), matrix(given, V, F, **kwargs)


@check("the product of two matrices whose sizes no block divides", points=5, of=MATMUL)
def test_matmul(impl, given):
    return {"product": result(impl.matmul, *matrices(given))}


@check("a program of a kernel computes each tile", points=2, of=MATMUL, judge=WORK, idea=True)
def test_matmul_programs(impl, given):
    return work_of(impl.matmul, *matrices(given))


@check("no matmul program reaches outside of its tensors", points=3, of=MATMUL, requires_any=("matmul_programs",))
def test_matmul_bounds(impl, given):
    return outside_of(run(impl.matmul, *matrices(given))[1])


@check("blocks of 32 and 64", points=2, of=MATMUL, requires_any=("matmul_programs",))
def test_matmul_blocks(impl, given):
    a, b = matrices(given)
    found = {}
    for block in (32, 64):
        product, memory = run(impl.matmul, a, b, block=block)
        found[f"product by blocks of {block}"] = product
        found[f"programs by blocks of {block}"] = len(memory.programs)
    return found


@check("views: transposed matrices, and every second row and column", points=2, of=MATMUL)
def test_matmul_views(impl, given):
    T, V, F = given.sizes("T V F")
    first = matrix(given, V, T).t(), matrix(given, F, V).t()
    second = matrix(given, 2 * T, 2 * V)[::2, ::2], matrix(given, V, 2 * F)[:, ::2]
    return {
        "product of transposed matrices": result(impl.matmul, *first),
        "product of slices": result(impl.matmul, *second),
    }


def exact_when_summed_in_float32(given):
    """Return float16 matrices of whole numbers. Halfway, each sum is above 65504; in the end, it is small."""
    T, F = given.sizes("T F")
    large, small = given.integers(60, 100, T, 32), given.integers(-1, 2, T, 32)
    other = given.integers(60, 100, 32, F)
    a = given.torch.cat([large, small - large], dim=1)
    return a.half(), given.torch.cat([other, other], dim=0).half()


@check("float16: the sum is kept in float32", points=2, of=MATMUL, requires_any=("matmul_programs",))
def test_matmul_half(impl, given):
    return {"product in float16": result(impl.matmul, *exact_when_summed_in_float32(given))}


@check(
    "a and b that do not fit are a ValueError with both sizes",
    points=1,
    of=MATMUL,
    judge=Raises(),
    requires_any=("matmul_programs",),
)
def test_matmul_refused(impl, given):
    T, V, F = given.sizes("T V F")
    more = V + given.number(1, 20)
    return given.raises(lambda: result(impl.matmul, matrix(given, T, V), matrix(given, more, F)), V, more)


def layer(given, **kwargs):
    """Return inputs (R, V), a weight (F, V) and a bias (F)."""
    R, V, F = given.sizes("R V F")
    return matrix(given, R, V, **kwargs), matrix(given, F, V, scale=0.2, **kwargs), matrix(given, F, **kwargs)


@check("gelu(x @ weightᵀ + bias)", points=4, of=FUSED)
def test_fused(impl, given):
    return {"output": result(impl.linear_gelu, *layer(given))}


@check("one launch computes all, and writes nothing but the result", points=3, of=FUSED, judge=WORK, idea=True)
def test_fused_programs(impl, given):
    found, memory = run(impl.linear_gelu, *layer(given))
    return {
        AS_RETURNED: [memory.written(found), found],
        "launches": memory.launches,
        "numbers written": len(memory._values),
    }


@check("no fused program reaches outside of its tensors", points=1, of=FUSED, requires_any=("fused_programs",))
def test_fused_bounds(impl, given):
    return outside_of(run(impl.linear_gelu, *layer(given))[1])


@check("float16, and a block of 32", points=1, of=FUSED, requires_any=("fused_programs",))
def test_fused_half(impl, given):
    return {"output in float16": result(impl.linear_gelu, *layer(given, dtype="float16"), block=32)}


@check(
    "the inputs are not modified",
    points=1,
    judge=SameInputs(),
    requires_any=("softmax", "matmul", "fused"),
)
def test_inputs_kept(impl, given):
    x, (a, b), tensors = rows(given), matrices(given), layer(given)
    memory = Memory()
    with memory.watching():
        impl.softmax(x)
        impl.matmul(a, b, block=32)
        impl.linear_gelu(*tensors, block=32)
    return {"x": x, "a": a, "b": b, "layer": list(tensors)}


@picture("which program writes each number of a product (40, 40)", rows="row", columns="column")
def picture_tiles(impl, given):
    a, b = given.torch.ones(40, 20), given.torch.ones(20, 40)
    product, memory = run(impl.matmul, a, b)
    places = [str(at) for at in range(40)]
    return memory.owners(product), places, places
