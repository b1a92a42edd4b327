"""Files of a network: `net.yaml` describes it, `net.npz` next to it has its weights.

    game: backgammon encoding: perspective196 layers: [40 sigmoid, 1 sigmoid]  # width and
    activation of each points: 1                        # the points of a value of 1: 1, wins
    only; 3, a backgammon scale: 0.0025                    # of networks that searches can use: see
    `tuner.evaluation.networks.evaluation` origin: 200000 games of self-play

The arrays are `weights0` (inputs, width), `biases0` (width,), `weights1` and so on, float32 or
float64."""

import io
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from evalterms.framework.encoding import Encoding
from games.record import find
from games.streams import InputError
from tuner.evaluation.networks.learn import logit_factor
from tuner.evaluation.networks.model import ACTIVATIONS, Layer, Network
from tuner.io.files import (
    NETWORK,
    WEIGHTS,
    read_whole,
    replace_file,
    require_other,
    require_writable,
)
from tuner.parameters.yaml_tree import convert_tree, read_tree
from tuner.version import __version__

LayerText = Annotated[
    str,
    Meta(
        pattern=rf"^([1-9]\d{{0,2}}|[1-3]\d{{3}}|40[0-8]\d|409[0-6]) +({'|'.join(ACTIVATIONS)})$",
        description=f"a width up to 4096 and one of {', '.join(ACTIVATIONS)}",
    ),
]
MOST_LAYERS = 8
Layers = Annotated[
    list[LayerText],
    Meta(
        min_length=1,
        max_length=MOST_LAYERS,
        description=f"1 to {MOST_LAYERS} layers such as [40 sigmoid, 1 sigmoid]",
    ),
]
Name = Annotated[str, Meta(pattern=r"^\S{1,60}$", description="a name")]
Scale = Annotated[float, Meta(gt=0, le=1.0, description="a number above 0 and at most 1")]
HEADER = 1024  # bytes, more than the header of an array takes
SCALE_NOTE = "  # expected points / most points of a game = tanh(scale * evaluation)"
ADVICE = "write the network again"


@dataclass(frozen=True)
class NetworkFile:
    """A network with the names of its game and encoding, the points of a value of 1,
    and where it came from. With a `scale`, searches can use it, see
    `tuner.evaluation.networks.evaluation`."""

    game: str
    encoding: str
    network: Network
    points: int
    origin: str
    scale: float | None = None


def holds_network(path: Path) -> bool:
    """Return whether a file describes a network; InputError if it is no YAML."""
    tree = read_tree(path)
    return isinstance(tree.value, dict) and {"encoding", "layers"} <= tree.value.keys()


def weights_path(path: Path) -> Path:
    """Return the path of the weights of a `.yaml`."""
    return path.with_suffix(".npz")


def require_network_writable(
    output: Path, reads: Sequence[str | None], run: Path | None = None
) -> None:
    """Raise InputError before a long computation unless a network can be written to `output` and
    the weights next to it, outside the folder of this `run`."""
    require_other(output, reads)
    if output.suffix.lower() not in (".yaml", ".yml"):
        raise InputError(
            f"{output}: expected the name of a YAML file, such as net.yaml; the weights are written"
            " next to it"
        )
    require_writable(output, NETWORK, reads, run)
    reads = [
        *reads,
        *(str(weights_path(Path(name))) for name in reads if name and name.endswith(".yaml")),
    ]
    require_other(weights_path(output), reads)
    require_writable(weights_path(output), WEIGHTS, reads, run)


def write_network(path: Path, content: NetworkFile) -> None:
    """Write a network to a `.yaml` file and the `.npz` next to it."""
    arrays, layers = {}, []
    for k, layer in enumerate(content.network.layers):
        arrays[f"weights{k}"], arrays[f"biases{k}"] = layer.weights, layer.biases
        layers.append(f"{len(layer.biases)} {layer.activation}")
    scale = "" if content.scale is None else f"scale: {content.scale:.8g}{SCALE_NOTE}\n"
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]  # its second argument is a bool
    replace_file(weights_path(path), stream.getvalue())
    replace_file(
        path,
        f"game: {content.game}\nencoding: {content.encoding}\nlayers:"
        f" [{', '.join(layers)}]\npoints: {content.points}  # the points of a value of"
        f" 1\n{scale}origin: {_quoted(content.origin)}\n",
    )


@dataclass(frozen=True)
class NetworkText:
    """The contents of the `.yaml` of a network."""

    game: Name
    encoding: Name
    layers: Layers
    points: Annotated[int, Meta(ge=1, le=999, description="a whole number of 1 or more")]
    origin: str
    scale: Scale | None = None


def read_network(path: Path, inputs_of: Callable[[str, str], int]) -> NetworkFile:
    """Read a network; `inputs_of` returns the number of inputs of a game's encoding, or raises
    ValueError. InputError in one line if a file is not one of a network."""
    tree: Any = read_tree(path)
    text: NetworkText = convert_tree(tree, NetworkText, path)
    try:
        inputs = inputs_of(text.game, text.encoding)
    except ValueError as problem:
        raise InputError(f"{path}:{tree.value['encoding'].line}: {problem}") from None
    widths, activations = zip(*(layer.split() for layer in text.layers), strict=True)
    arrays = _arrays(weights_path(path), [inputs, *map(int, widths)])
    layers = (
        Layer(weights, biases, activation)
        for (weights, biases), activation in zip(arrays, activations, strict=True)
    )
    network = Network(tuple(layers))
    return NetworkFile(text.game, text.encoding, network, text.points, text.origin, text.scale)


def _quoted(text: str) -> str:
    """Return a text as a YAML scalar on one line."""
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else " " for c in text) + '"'


def _arrays(path: Path, widths: list[int]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Read the weights and biases of layers of these widths, the first of which is the number of
    inputs."""
    expected: dict[str, tuple[int, ...]] = {}
    for k, (inputs, width) in enumerate(zip(widths[:-1], widths[1:], strict=True)):
        expected |= {f"weights{k}": (inputs, width), f"biases{k}": (width,)}
    most = sum(8 * int(np.prod(shape)) + 2 * HEADER for shape in expected.values()) + HEADER
    try:
        content = read_whole(path, most, "the weights of this network")
    except FileNotFoundError:
        raise InputError(
            f"{path}: no such file; the weights of a network are next to its .yaml"
        ) from None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = sorted(name.removesuffix(".npy") for name in archive.namelist())
            if names != sorted(expected):
                raise InputError(
                    f"{path}: has the arrays {', '.join(names)[:80]!r}, expected"
                    f" {', '.join(expected)}; {ADVICE}"
                )
            arrays = {name: _array(path, archive, name, shape) for name, shape in expected.items()}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as problem:
        raise InputError(
            f"{path}: damaged: {' '.join(str(problem).split())[:80]}; {ADVICE}"
        ) from None
    return [(arrays[f"weights{k}"], arrays[f"biases{k}"]) for k in range(len(widths) - 1)]


def _array(path: Path, archive: zipfile.ZipFile, name: str, shape: tuple[int, ...]) -> np.ndarray:
    info = archive.getinfo(f"{name}.npy")
    if (
        info.file_size > 8 * int(np.prod(shape)) + HEADER
        or info.compress_type != zipfile.ZIP_STORED
    ):
        raise InputError(f"{path}: {name} is larger than {shape} or compressed; {ADVICE}")
    try:
        array = np.lib.format.read_array(io.BytesIO(archive.read(info)), allow_pickle=False)
    except (ValueError, TypeError, SyntaxError, MemoryError, UnicodeDecodeError) as problem:
        raise InputError(
            f"{path}: {name} cannot be read: {' '.join(str(problem).split())[:80]}; {ADVICE}"
        ) from None
    if array.shape != shape or array.dtype not in (np.float32, np.float64):
        raise InputError(
            f"{path}: {name} is {array.dtype} {array.shape}, expected float32 {shape}; {ADVICE}"
        )
    if not (np.abs(array) <= LARGEST).all():
        raise InputError(f"{path}: {name} has numbers beyond {LARGEST:g} or none; {ADVICE}")
    return np.ascontiguousarray(array)


LARGEST = 1e6  # of a weight: sums of products stay finite in float32
PER_LINE = 8  # numbers of a line
WIDTH = 100  # of a comment
IN_C = {
    "relu": "{x} > 0 ? {x} : 0",
    "tanh": "tanhf({x})",
    "sigmoid": "1 / (1 + expf(-{x}))",
    "linear": "{x}",
}


def c_text(file: NetworkFile, encoding: Encoding, name: str) -> str:
    """Return the header of a network from the file of this name. Units are part of its first
    weights, so that it takes counts."""
    first, *others = file.network.layers
    layers = [
        Layer(first.weights * encoding.units[:, None], first.biases, first.activation),
        *others,
    ]
    widths = [len(layer.biases) for layer in layers]
    side = "the side to move or to roll" if encoding.for_mover else "the first player"
    lines = [
        *_comment(f"exported by evaltune {__version__} from {name}"),
        *_comment(f"origin: {file.origin}"),
        *_comment(f"{file.game}, {encoding.name}: {encoding.size} counts; outputs are for {side}"),
        *_comment(f"counts: {encoding.about}"),
        "",
        "#include <math.h>",
        "",
        f"#define NETWORK_INPUTS {encoding.size}",
        f"#define NETWORK_OUTPUTS {widths[-1]}",
        "",
    ]
    for k, layer in enumerate(layers):
        lines += _array_in_c(
            f"network_weights{k}[{layer.weights.shape[0]}][{widths[k]}]", layer.weights
        )
        lines += _array_in_c(f"network_biases{k}[{widths[k]}]", layer.biases)
    lines += [
        "",
        "/* The sums of the last layer, before its activation. */",
        "static void network_sums(const int counts[NETWORK_INPUTS], float sums[NETWORK_OUTPUTS])",
        "{",
    ]
    lines += [f"    float layer{k}[{width}];" for k, width in enumerate(widths[:-1])]
    lines.append("    int i, j;")
    for k, width in enumerate(widths):
        out = f"layer{k}" if k + 1 < len(widths) else "sums"
        into, size = (f"layer{k - 1}", widths[k - 1]) if k else ("counts", encoding.size)
        lines += [
            f"    for (j = 0; j < {width}; j++)",
            f"        {out}[j] = network_biases{k}[j];",
            f"    for (i = 0; i < {size}; i++)",
            f"        if ({into}[i] != 0)",
            f"            for (j = 0; j < {width}; j++)",
            f"                {out}[j] += {into}[i] * network_weights{k}[i][j];",
        ]
        if k + 1 < len(widths):
            lines += _activated(out, width, layers[k].activation)
    lines += [
        "}",
        "",
        "/* The outputs of the network. */",
        (
            "static void network_outputs(const int counts[NETWORK_INPUTS], float"
            " outputs[NETWORK_OUTPUTS])"
        ),
        "{",
        *(["    int j;"] if layers[-1].activation != "linear" else []),
        "    network_sums(counts, outputs);",
        *_activated("outputs", widths[-1], layers[-1].activation),
        "}",
    ]
    if file.scale is not None:
        half, share = logit_factor(file.network) / 2, file.points / find(file.game).points
        value = (
            f"sums[0] * {half / file.scale:.9g}"
            if share == 1
            else (f"atanh({share:.9g} * tanh(sums[0] * {half:.9g})) / {file.scale:.9g}")
        )
        unit = find(file.game).wording.unit
        lines += [
            "",
            f"/* The evaluation in {unit}, for {side}. */",
            f"static double network_{unit.replace(' ', '_')}(const int counts[NETWORK_INPUTS])",
            "{",
            "    float sums[NETWORK_OUTPUTS];",
            "    network_sums(counts, sums);",
            f"    return {value};",
            "}",
        ]
    return "\n".join(lines) + "\n"


def _activated(out: str, width: int, activation: str) -> list[str]:
    """Return the loop that applies an activation in place."""
    if activation == "linear":
        return []
    return [
        f"    for (j = 0; j < {width}; j++)",
        f"        {out}[j] = {IN_C[activation].format(x=f'{out}[j]')};",
    ]


def _array_in_c(declared: str, values: np.ndarray) -> list[str]:
    """Return the definition of an array of one or two dimensions, in single precision."""
    rows = [
        line
        for row in np.atleast_2d(values.astype(np.float32))
        for line in _row(row, values.ndim == 2)
    ]
    return [f"static const float {declared} = {{", *rows, "};"]


def _row(row: np.ndarray, braces: bool) -> list[str]:
    numbers = [_number(value) for value in row]
    lines = [
        f"    {', '.join(numbers[at : at + PER_LINE])}," for at in range(0, len(numbers), PER_LINE)
    ]
    return ["    {", *lines, "    },"] if braces else lines


def _number(value: np.float32) -> str:
    """Return a number as a constant of C that is read as the same float."""
    text = f"{value:.9g}"
    return text + ("f" if "." in text or "e" in text else ".0f")


def _comment(text: str) -> list[str]:
    """Return a comment, at spaces on several lines, that nothing in the text can end or
    continue."""
    words, lines = text.replace("*/", "* /").replace("\\", "/").replace("??/", "?? /").split(), [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) >= WIDTH:
            lines.append("")
        lines[-1] += " " * bool(lines[-1]) + word
    return [f"// {line}" for line in lines]
