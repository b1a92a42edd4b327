"""Files of a network: `net.yaml` says what it is, `net.npz` beside it has its weights.

    game: backgammon
    encoding: perspective196
    layers: [40 sigmoid, 1 sigmoid]  # width and activation of each
    points: 1                        # what a value of 1 stands for: 1, wins only; 3, a backgammon
    scale: 0.0025                    # of networks that searches can use: see `tuner.networks.evaluation`
    origin: 200000 games of self-play

The arrays are `weights0` (inputs, width), `biases0` (width,), `weights1` and so on, float32 or float64.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from games.streams import InputError
from tuner.io.files import NETWORK, WEIGHTS, read_whole, replace_file, require_other, require_writable
from tuner.networks.model import ACTIVATIONS, Layer, Network
from tuner.parameters.yaml_tree import Node, read_tree

KEYS = ("game", "encoding", "layers", "points", "origin")
SCALE = "scale"
LARGEST_SCALE = 1.0  # 1 / centipawns
LARGEST_WIDTH, MOST_LAYERS = 4096, 8
HEADER = 1024  # bytes, more than the header of an array takes
SCALE_NOTE = "  # expected points / most points of a game = tanh(scale * evaluation)"
ADVICE = "write the network again"


@dataclass(frozen=True)
class NetworkFile:
    """A network with the names of its game and encoding, the points that a value of 1 stands for, and where it came from. With a
    `scale`, searches can use it, see `tuner.networks.evaluation`."""

    game: str
    encoding: str
    network: Network
    points: int
    origin: str
    scale: float | None = None


def holds_network(path: Path) -> bool:
    """Return whether a file says that it is one of a network; InputError if it is no YAML."""
    tree = read_tree(path)
    return isinstance(tree.value, dict) and {"encoding", "layers"} <= tree.value.keys()


def weights_path(path: Path) -> Path:
    """Return the path of the weights beside a `.yaml`."""
    return path.with_suffix(".npz")


def require_network_writable(output: Path, reads: Sequence[str | None], run: Path | None = None) -> None:
    """Raise InputError before a long computation unless a network can be written to `output` and the weights beside it, outside
    the folder of this `run`."""
    require_other(output, reads)
    if output.suffix.lower() not in (".yaml", ".yml"):
        raise InputError(f"{output}: expected the name of a YAML file, such as net.yaml; the weights are written beside it")
    require_writable(output, NETWORK, reads, run)
    reads = [*reads, *(str(weights_path(Path(name))) for name in reads if name and name.endswith(".yaml"))]
    require_other(weights_path(output), reads)
    require_writable(weights_path(output), WEIGHTS, reads, run)


def write_network(path: Path, content: NetworkFile) -> None:
    """Write a network to a `.yaml` file and the `.npz` beside it."""
    arrays, layers = {}, []
    for k, layer in enumerate(content.network.layers):
        arrays[f"weights{k}"], arrays[f"biases{k}"] = layer.weights, layer.biases
        layers.append(f"{len(layer.biases)} {layer.activation}")
    scale = "" if content.scale is None else f"scale: {content.scale:.8g}{SCALE_NOTE}\n"
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]  # its other argument is a bool
    replace_file(weights_path(path), stream.getvalue())
    replace_file(path, f"game: {content.game}\nencoding: {content.encoding}\nlayers: [{', '.join(layers)}]\n"
                       f"points: {content.points}  # what a value of 1 stands for\n{scale}origin: {_quoted(content.origin)}\n")


def read_network(path: Path, inputs_of: Callable[[str, str], int]) -> NetworkFile:
    """Read a network; `inputs_of` returns the number of inputs of a game's encoding, or raises ValueError. InputError in one line
    if a file is not one of a network."""
    tree = read_tree(path)
    if not isinstance(tree.value, dict):
        raise InputError(f"{path}:{tree.line}: expected the keys {', '.join(KEYS)} of a network")
    for key, node in tree.value.items():
        if key not in (*KEYS, SCALE):
            raise InputError(f"{path}:{node.line}: unknown key {key[:40]!r}; a network has {', '.join(KEYS)}, perhaps {SCALE}")
    for key in KEYS:
        if key not in tree.value:
            raise InputError(f"{path}: no {key}; a network has {', '.join(KEYS)}")
    game, encoding, points, origin = (_text(path, key, tree.value[key]) for key in ("game", "encoding", "points", "origin"))
    if not re.fullmatch(r"[1-9]\d{0,2}", points):
        raise InputError(f"{path}:{tree.value['points'].line}: points is {points[:40]!r}, expected a whole number of at least 1")
    try:
        inputs = inputs_of(game, encoding)
    except ValueError as problem:
        raise InputError(f"{path}:{tree.value['encoding'].line}: {problem}") from None
    widths, activations = _layers(path, tree.value["layers"])
    arrays = _arrays(weights_path(path), [inputs, *widths])
    layers = (Layer(weights, biases, activation) for (weights, biases), activation in zip(arrays, activations, strict=True))
    scale = _scale(path, tree.value[SCALE]) if SCALE in tree.value else None
    return NetworkFile(game, encoding, Network(tuple(layers)), int(points), origin, scale)


def _quoted(text: str) -> str:
    """Return a text as a YAML scalar on one line."""
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else " " for c in text) + '"'


def _text(path: Path, key: str, node: Node) -> str:
    if not isinstance(node.value, str):
        raise InputError(f"{path}:{node.line}: {key} is not a single value")
    return node.value


def _scale(path: Path, node: Node) -> float:
    text = _text(path, SCALE, node)
    found = float(text) if re.fullmatch(r"\d{0,9}\.?\d{1,20}(e-\d{1,2})?", text) else 0.0
    if not 0 < found <= LARGEST_SCALE:
        raise InputError(f"{path}:{node.line}: scale is {text[:40]!r}, expected a number above 0 and at most {LARGEST_SCALE:g}")
    return found


def _layers(path: Path, node: Node) -> tuple[list[int], list[str]]:
    """Return the widths and activations of the layers."""
    if not isinstance(node.value, list) or not 1 <= len(node.value) <= MOST_LAYERS:
        raise InputError(f"{path}:{node.line}: layers is not a list of 1 to {MOST_LAYERS} layers such as [40 sigmoid, 1 sigmoid]")
    widths, activations = [], []
    for each in node.value:
        found = re.fullmatch(r"([1-9]\d{0,3}) +([a-z]+)", each.value) if isinstance(each.value, str) else None
        if found is None or int(found[1]) > LARGEST_WIDTH or found[2] not in ACTIVATIONS:
            shown = repr(each.value[:40]) if isinstance(each.value, str) else "a list or mapping"
            raise InputError(f"{path}:{each.line}: the layer is {shown}, expected a width up to {LARGEST_WIDTH} and one of "
                             f"{', '.join(ACTIVATIONS)}")
        widths.append(int(found[1]))
        activations.append(found[2])
    return widths, activations


def _arrays(path: Path, widths: list[int]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Read the weights and biases of layers of these widths, the first of which is the number of inputs."""
    expected: dict[str, tuple[int, ...]] = {}
    for k, (inputs, width) in enumerate(zip(widths[:-1], widths[1:], strict=True)):
        expected |= {f"weights{k}": (inputs, width), f"biases{k}": (width,)}
    most = sum(8 * int(np.prod(shape)) + 2 * HEADER for shape in expected.values()) + HEADER
    try:
        content = read_whole(path, most, "the weights of this network")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; the weights of a network lie beside its .yaml") from None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = sorted(name.removesuffix(".npy") for name in archive.namelist())
            if names != sorted(expected):
                raise InputError(f"{path}: has the arrays {', '.join(names)[:80]!r}, expected {', '.join(expected)}; {ADVICE}")
            found = {name: _array(path, archive, name, shape) for name, shape in expected.items()}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as problem:
        raise InputError(f"{path}: damaged: {' '.join(str(problem).split())[:80]}; {ADVICE}") from None
    return [(found[f"weights{k}"], found[f"biases{k}"]) for k in range(len(widths) - 1)]


def _array(path: Path, archive: zipfile.ZipFile, name: str, shape: tuple[int, ...]) -> np.ndarray:
    info = archive.getinfo(f"{name}.npy")
    if info.file_size > 8 * int(np.prod(shape)) + HEADER or info.compress_type != zipfile.ZIP_STORED:
        raise InputError(f"{path}: {name} is larger than {shape} or compressed; {ADVICE}")
    try:
        array = np.lib.format.read_array(io.BytesIO(archive.read(info)), allow_pickle=False)
    except (ValueError, TypeError, SyntaxError, MemoryError, UnicodeDecodeError) as problem:
        raise InputError(f"{path}: {name} cannot be read: {' '.join(str(problem).split())[:80]}; {ADVICE}") from None
    if array.shape != shape or array.dtype not in (np.float32, np.float64):
        raise InputError(f"{path}: {name} is {array.dtype} {array.shape}, expected float32 {shape}; {ADVICE}")
    if not np.isfinite(array).all():
        raise InputError(f"{path}: {name} has numbers that are not finite; {ADVICE}")
    return np.ascontiguousarray(array)
