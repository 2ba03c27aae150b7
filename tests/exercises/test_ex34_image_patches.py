"""ex34: images as tokens. The order of patches, and that of the numbers in a patch, are judged apart."""

from autograder.checks import Like, Raises, check, picture, standard_checks

CUT, BACK, WEIGHT, RESIZE, CLASS = (
    "patchify",
    "unpatchify",
    "linear_from_convolution",
    "resize_positions",
    "PatchEmbedding",
)
PATCHES = ("pixel_order", "patches", "inverse", "projected")  # one of them passes unless nothing is computed
RESIZED = ("resize_larger", "resize_smaller", "resize_same_number", "resize_exact", "another_size")
EMBEDDED = ("class_first", "projected", "added_positions")
AGREEING = Like(tolerance=1e-4)


def sides(given, *, square=False):
    """Return channels, the side of a patch, and the rows and columns of patches."""
    few, many = given.size("G") + 1, given.size("G") + 3
    rows, columns = (few, many) if given.size("B") % 2 else (many, few)
    return 3, 2, rows, rows if square else columns


def images_of(given, *, square=False):
    """Return images (B, C, H, W), the side of a patch, and the grid."""
    C, P, rows, columns = sides(given, square=square)
    return given.normal(given.size("B"), C, rows * P, columns * P), P


def blocks(given, batch, rows, columns, *, P=2, dtype="float32"):
    """Return images in which all numbers of a patch are equal: other checks judge their order in the patch."""
    C, *_ = sides(given)
    tall = given.normal(batch, rows, columns, dtype=dtype).repeat_interleave(P, dim=1).repeat_interleave(P, dim=2)
    return tall.unsqueeze(1).expand(-1, C, -1, -1).contiguous()


@check("patches come row by row, from the top left one", points=2, of=CUT, requires_any=PATCHES)
def test_patch_order(impl, given):
    _, P, rows, columns = sides(given)
    images = blocks(given, given.size("B"), rows, columns)
    return {"patches, each of one number": impl.patchify(images, P)}


@check(
    "there may be any number of channels, and any size of patch, also one image of one patch",
    points=1,
    of=CUT,
    requires_any=PATCHES,
)
def test_channels(impl, given):
    G = given.size("G")
    return {
        "patches of 2 channels and side 3": impl.patchify(given.normal(2, 2, 3 * G, 3 * G + 3), 3),
        "one patch of 1 channel and side 3": impl.patchify(given.normal(1, 1, 3, 3), 3),
    }


@check("the numbers of a patch come by channel, then row, then column", points=2, of=CUT)
def test_pixel_order(impl, given):
    C, P, _, _ = sides(given)
    return {"two patches, side by side": impl.patchify(given.normal(given.size("B"), C, P, 2 * P), P)}


@check("an image that is not square has its patches", points=2, of=CUT)
def test_patches(impl, given):
    images, P = images_of(given)
    return {"patches": impl.patchify(images, P)}


@check(
    "a height that the patches do not fill is a ValueError with both numbers",
    points=1,
    of=CUT,
    judge=Raises(),
    requires_any=PATCHES,
)
def test_height_refused(impl, given):
    C, P, rows, columns = sides(given)
    height = rows * P + given.number(1, P)
    return given.raises(lambda: impl.patchify(given.normal(1, C, height, columns * P), P), height, P)


@check(
    "a width that the patches do not fill is a ValueError with both numbers",
    points=1,
    of=CUT,
    judge=Raises(),
    requires_any=PATCHES,
)
def test_width_refused(impl, given):
    C, P, rows, columns = sides(given)
    width = columns * P + given.number(1, P)
    return given.raises(lambda: impl.patchify(given.normal(1, C, rows * P, width), P), width, P)


def patches_of(given, rows, columns):
    """Return patches of random numbers, and their side."""
    C, P, _, _ = sides(given)
    return given.normal(given.size("B"), rows * columns, C * P * P), P


@check(
    "unpatchify puts patches row by row into an image, also a single one",
    points=2,
    of=BACK,
    requires_any=("inverse", "pixels_back"),
)
def test_back_order(impl, given):
    C, P, rows, columns = sides(given)
    flat = given.normal(given.size("B"), rows * columns, 1)
    patches = flat.expand(-1, -1, C * P * P).contiguous()
    return {
        "images, from patches of one number": impl.unpatchify(patches, P, (rows, columns)),
        "image of one channel, from one patch": impl.unpatchify(patches[:1, :1, : P * P], P, (1, 1)),
    }


@check("unpatchify puts the patches of an image together again", points=2, of=BACK)
def test_inverse(impl, given):
    _, _, rows, columns = sides(given)
    return {"images": impl.unpatchify(*patches_of(given, rows, columns), (rows, columns))}


@check("unpatchify reads a patch by channel, then row, then column", points=2, of=BACK)
def test_pixels_back(impl, given):
    return {"images of two patches": impl.unpatchify(*patches_of(given, 1, 2), (1, 2))}


@check(
    "a grid that is not filled is a ValueError with all three numbers",
    points=1,
    of=BACK,
    judge=Raises(),
    requires_any=("inverse", "pixels_back", "back_order"),
)
def test_grid_refused(impl, given):
    C, P, rows, columns = sides(given)
    number = rows * columns + given.choice((1, -1))
    patches = given.normal(1, number, C * P * P)
    return given.raises(lambda: impl.unpatchify(patches, P, (rows, columns)), number, rows, columns)


def convolved(images, weight, P):
    """Return a convolution with stride P as (B, N, D), from products of all pixels."""
    windows = images.unflatten(3, (-1, P)).unflatten(2, (-1, P))  # (B, C, rows, P, columns, P)
    products = windows.unsqueeze(1) * weight[None, :, :, None, :, None]
    return products.sum(dim=(2, 4, 6)).flatten(2).transpose(1, 2)


@check(
    "patches times the weight of a convolution are the convolution with stride P",
    points=3,
    of=WEIGHT,
    judge=AGREEING,
    requires_any=PATCHES,
)
def test_convolution(impl, given):
    images, P = images_of(given)
    weight = given.normal(given.size("F"), images.size(1), P, P)
    linear = impl.patchify(images, P) @ impl.linear_from_convolution(weight).transpose(0, 1)
    return {"patches times the weight, and the convolution": [linear, convolved(images, weight, P)]}


def positions_of(given, grid, *, dtype="float32"):
    return given.normal(1, 1 + grid[0] * grid[1], given.size("F"), dtype=dtype)


def grid_of(given):
    """Return the rows and columns of patches, more columns than rows."""
    _, _, rows, columns = sides(given)
    return min(rows, columns), max(rows, columns) + 1


@check("positions of a larger grid are bicubic, with align_corners=False", points=3, of=RESIZE)
def test_resize_larger(impl, given):
    grid = grid_of(given)
    larger = (grid[0] + given.number(1, 4), grid[1] + given.number(4, 7))
    return {"positions of the patches": impl.resize_positions(positions_of(given, grid), grid, larger)[:, 1:]}


@check("positions of a smaller grid are not smoothed first", points=2, of=RESIZE)
def test_resize_smaller(impl, given):
    grid = grid_of(given)
    smaller = (grid[0] - 2, grid[1] - 3)
    return {"positions of the patches": impl.resize_positions(positions_of(given, grid), grid, smaller)[:, 1:]}


@check("a grid with as many patches, but other sides, is interpolated too", points=1, of=RESIZE)
def test_resize_same_number(impl, given):
    rows, columns = given.number(2, 4), given.number(4, 7)
    positions = positions_of(given, (rows, 2 * columns))
    return {
        "positions of the patches": impl.resize_positions(positions, (rows, 2 * columns), (2 * rows, columns))[:, 1:]
    }


@check("the result has exactly the new grid, whatever the ratio of the sides", points=1, of=RESIZE)
def test_resize_exact(impl, given):
    wide, high = positions_of(given, (1, 11)), positions_of(given, (13, 1))
    return {
        "positions of 15 columns, from 11": impl.resize_positions(wide, (1, 11), (1, 15))[:, 1:],
        "positions of 30 rows, from 13": impl.resize_positions(high, (13, 1), (30, 1))[:, 1:],
    }


@check("the position of the class token stays, and stays first", points=2, of=RESIZE, requires_any=RESIZED)
def test_resize_class(impl, given):
    grid = grid_of(given)
    found = impl.resize_positions(positions_of(given, grid), grid, (grid[0] + 1, grid[1] + 2))
    return {"position of the class token": found[:, 0], "number of positions": found.size(1)}


@check(
    "positions that do not fill the old grid are a ValueError with all three numbers",
    points=1,
    of=RESIZE,
    judge=Raises(),
    requires_any=RESIZED,
)
def test_positions_refused(impl, given):
    rows, columns = grid_of(given)
    positions = positions_of(given, (rows, columns))
    wrong = (rows + given.choice((1, -1)), columns)
    return given.raises(lambda: impl.resize_positions(positions, wrong, (4, 4)), rows * columns, *wrong)


def layer_of(impl, given, *, grid=None, P=2, positions=True, dtype="float32"):
    """Return a layer with known weights, of a square grid if there is no other; with `positions` False they are 0."""
    C, _, *own = sides(given, square=True)
    rows, columns = grid or own
    F = given.size("F")
    shapes = {
        "projection.weight": (F, C * P * P),
        "projection.bias": (F,),
        "class_token": (1, 1, F),
        "positions": (1, 1 + rows * columns, F),
    }
    layer = given.load(impl.PatchEmbedding((rows * P, columns * P), P, C, F), shapes, dtype=dtype)
    if not positions:
        with given.torch.no_grad():
            layer.positions.mul_(0)
    return layer


def layer_and_input(impl, given, dtype):
    _, _, rows, columns = sides(given, square=True)
    return layer_of(impl, given, dtype=dtype), {"images": blocks(given, given.size("B"), rows, columns, dtype=dtype)}


LAYER = standard_checks(of=CLASS, make=layer_and_input)


@check("each patch is projected to a token", points=3, of=CLASS, judge=AGREEING)
def test_projected(impl, given):
    images, P = images_of(given, square=True)
    layer = layer_of(impl, given, positions=False)
    by_hand = impl.patchify(images, P) @ layer.projection.weight.transpose(0, 1) + layer.projection.bias
    return {"tokens of the patches, and their projection": [layer(images)[:, 1:], by_hand]}


@check("the class token stands first, with the first position", points=2, of=CLASS)
def test_class_first(impl, given):
    tokens = layer_of(impl, given)(images_of(given, square=True)[0])
    return {"first token of each image": tokens[:, 0]}


@check(
    "each token gets the position of its place",
    points=2,
    of=CLASS,
    judge=AGREEING,
    requires_any=("class_first", "projected"),
)
def test_added_positions(impl, given):
    images, _ = images_of(given, square=True)
    layer, without = layer_of(impl, given), layer_of(impl, given, positions=False)
    with given.torch.no_grad():
        for name, parameter in without.named_parameters():
            if name != "positions":
                parameter.copy_(layer.get_parameter(name))
    added = layer(images) - without(images)
    return {"what positions add to the tokens, and the positions": [added, layer.positions.expand_as(added)]}


def resized(impl, given, old, new, P=2):
    """Observe the tokens of a layer with the grid `old` for images with the grid `new`, beside a second way to them."""
    layer, images = layer_of(impl, given, grid=old, P=P), blocks(given, 2, *new, P=P)
    found = layer(images)
    positions = layer.positions if old == new else impl.resize_positions(layer.positions, old, new)
    patches = impl.patchify(images, P) @ layer.projection.weight.transpose(0, 1) + layer.projection.bias
    return {
        "tokens of the patches, and projection plus positions of their grid": [
            found[:, 1:],
            patches + positions[:, 1:],
        ],
        "number of the layer's own positions": layer.positions.size(1),
    }


@check("images of another size get resized positions", points=2, of=CLASS, judge=AGREEING, requires_any=EMBEDDED)
def test_another_size(impl, given):
    _, _, rows, columns = sides(given, square=True)
    return resized(impl, given, (rows, columns), (rows - 1, columns + 2))


@check(
    "image_size need not be square, patches may have any size, and there may be one image",
    points=1,
    of=CLASS,
    judge=AGREEING,
    requires_any=EMBEDDED,
)
def test_rectangle(impl, given):
    _, _, *grid = sides(given)
    layer, images = layer_of(impl, given, grid=grid), blocks(given, 2, *grid)
    return {
        **resized(impl, given, tuple(grid), tuple(grid), P=3),
        "tokens of one image, and of two": [layer(images[:1]), layer(images)[:1]],
    }


@check(
    "an image with as many patches in another grid gets resized positions",
    points=1,
    of=CLASS,
    judge=AGREEING,
    requires_any=EMBEDDED,
)
def test_same_number(impl, given):
    many = given.number(5, 8)
    return resized(impl, given, (2, 2 * many), (4, many))


@check(
    "an image_size that the patches do not fill is a ValueError with both numbers",
    points=1,
    of=CLASS,
    judge=Raises(),
    requires_any=EMBEDDED,
)
def test_image_size_refused(impl, given):
    C, P, rows, columns = sides(given)
    wrong = rows * P + given.number(1, P)
    size = given.choice(((wrong, columns * P), (columns * P, wrong)))
    return given.raises(lambda: impl.PatchEmbedding(size, P, C, 8), wrong, P)


test_dtypes = LAYER.dtypes(requires_any=EMBEDDED)
test_device = LAYER.device(requires_any=EMBEDDED)
test_parameters = LAYER.parameters(requires_any=EMBEDDED)
test_gradients = LAYER.gradients(requires_any=EMBEDDED)
test_inputs_kept = LAYER.inputs_kept(requires_any=EMBEDDED)


def functions(impl, given):
    """Return each function that `PatchEmbedding` need not call, as one of a single tensor, with the shape of that."""
    C, P, rows, columns = sides(given)
    size, old, new = C * P * P, grid_of(given), (rows + 2, columns + 1)
    return {
        BACK: (lambda patches: impl.unpatchify(patches, P, (rows, columns)), (2, rows * columns, size)),
        WEIGHT: (impl.linear_from_convolution, (given.size("F"), C, P, P)),
        RESIZE: (lambda positions: impl.resize_positions(positions, old, new), (1, 1 + old[0] * old[1], size)),
    }


ON_DEVICES = {name: f"{name}: on another device, and here" for name in (BACK, WEIGHT, RESIZE)}


@check(
    "the functions without a layer keep dtype and device, and let a gradient through",
    points=1,
    trials=1,
    judge=Like(tolerance=1e-4, free=tuple(ON_DEVICES.values())),
    requires_any=("inverse", "convolution", "resize_class"),
)
def test_functions(impl, given):
    seen = {}
    for name, (function, shape) in functions(impl, given).items():
        seen[f"{name}: dtype for float64"] = str(function(given.normal(*shape, dtype="float64")).dtype)
        numbers = given.normal(*shape)
        with given.another_device() as device:
            both = function(numbers.to(device)), function(numbers)
            seen[ON_DEVICES[name]] = [one.flatten()[:9] for one in both]  # other checks judge shape and order
        number, factor = given.normal(1).requires_grad_(), given.normal(1)
        mean = (function(number.expand(shape).contiguous()) * factor).mean()
        slope = given.torch.autograd.grad(mean, number)[0] if mean.requires_grad else given.torch.zeros(1)
        seen[f"{name}: gradient of the mean for equal numbers, and their factor"] = [slope, factor]
    return seen


@picture("an image of 8 × 12 pixels in patches of 4 × 4", rows="patch", columns="pixel of the patch")
def picture_patches(impl, given):
    torch = given.torch
    rows, columns = torch.arange(8.0)[:, None], torch.arange(12.0)
    images = ((rows - 3.5) ** 2 + (columns - 5.5) ** 2 < 14).to(torch.float32)[None, None]
    return impl.patchify(images, 4)[0], [], []
