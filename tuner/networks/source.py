"""A network as source text in C: its weights as constants, and functions of the counts of a position."""

from __future__ import annotations

import numpy as np

from evalterms.encoding import Encoding
from games.record import find
from tuner.networks.files import NetworkFile
from tuner.networks.learn import logit_factor
from tuner.networks.model import Layer
from tuner.version import __version__

PER_LINE = 8  # numbers of a line
WIDTH = 100  # of a comment
ACTIVATIONS = {"relu": "{x} > 0 ? {x} : 0", "tanh": "tanhf({x})", "sigmoid": "1 / (1 + expf(-{x}))", "linear": "{x}"}


def c_text(file: NetworkFile, encoding: Encoding, name: str) -> str:
    """Return the header of a network from the file of this name. Units are part of its first weights, so that it takes counts."""
    first, *others = file.network.layers
    layers = [Layer(first.weights * encoding.units[:, None], first.biases, first.activation), *others]
    widths = [len(layer.biases) for layer in layers]
    side = "the side to move or to roll" if encoding.for_mover else "the first player"
    lines = [*_comment(f"exported by evaltune {__version__} from {name}"), *_comment(f"origin: {file.origin}"),
             *_comment(f"{file.game}, {encoding.name}: {encoding.size} counts; outputs are for {side}"),
             *_comment(f"counts: {encoding.about}"), "", "#include <math.h>", "", f"#define NETWORK_INPUTS {encoding.size}",
             f"#define NETWORK_OUTPUTS {widths[-1]}", ""]
    for k, layer in enumerate(layers):
        lines += _array(f"network_weights{k}[{layer.weights.shape[0]}][{widths[k]}]", layer.weights)
        lines += _array(f"network_biases{k}[{widths[k]}]", layer.biases)
    lines += ["", "/* The sums of the last layer, before its activation. */",
              "static void network_sums(const int counts[NETWORK_INPUTS], float sums[NETWORK_OUTPUTS])", "{"]
    lines += [f"    float layer{k}[{width}];" for k, width in enumerate(widths[:-1])]
    lines.append("    int i, j;")
    for k, width in enumerate(widths):
        out = f"layer{k}" if k + 1 < len(widths) else "sums"
        into, size = (f"layer{k - 1}", widths[k - 1]) if k else ("counts", encoding.size)
        lines += [f"    for (j = 0; j < {width}; j++)", f"        {out}[j] = network_biases{k}[j];",
                  f"    for (i = 0; i < {size}; i++)", f"        if ({into}[i] != 0)",
                  f"            for (j = 0; j < {width}; j++)",
                  f"                {out}[j] += {into}[i] * network_weights{k}[i][j];"]
        if k + 1 < len(widths):
            lines += _activated(out, width, layers[k].activation)
    lines += ["}", "", "/* The outputs of the network. */",
              "static void network_outputs(const int counts[NETWORK_INPUTS], float outputs[NETWORK_OUTPUTS])", "{",
              *(["    int j;"] if layers[-1].activation != "linear" else []), "    network_sums(counts, outputs);",
              *_activated("outputs", widths[-1], layers[-1].activation), "}"]
    if file.scale is not None:
        half, share = logit_factor(file.network) / 2, file.points / find(file.game).points
        value = f"sums[0] * {half / file.scale:.9g}" if share == 1 else (
            f"atanh({share:.9g} * tanh(sums[0] * {half:.9g})) / {file.scale:.9g}")
        unit = find(file.game).wording.unit
        lines += ["", f"/* The evaluation in {unit}, for {side}. */",
                  f"static double network_{unit.replace(' ', '_')}(const int counts[NETWORK_INPUTS])", "{",
                  "    float sums[NETWORK_OUTPUTS];",
                  "    network_sums(counts, sums);", f"    return {value};", "}"]
    return "\n".join(lines) + "\n"


def _activated(out: str, width: int, activation: str) -> list[str]:
    """Return the loop that applies an activation in place."""
    if activation == "linear":
        return []
    return [f"    for (j = 0; j < {width}; j++)", f"        {out}[j] = {ACTIVATIONS[activation].format(x=f'{out}[j]')};"]


def _array(declared: str, values: np.ndarray) -> list[str]:
    """Return the definition of an array of one or two dimensions, in single precision."""
    rows = [line for row in np.atleast_2d(values.astype(np.float32)) for line in _row(row, values.ndim == 2)]
    return [f"static const float {declared} = {{", *rows, "};"]


def _row(row: np.ndarray, braces: bool) -> list[str]:
    numbers = [_number(value) for value in row]
    lines = [f"    {', '.join(numbers[at:at + PER_LINE])}," for at in range(0, len(numbers), PER_LINE)]
    return ["    {", *lines, "    },"] if braces else lines


def _number(value: np.float32) -> str:
    """Return a number as a constant of C that is read as the same float."""
    text = f"{value:.9g}"
    return text + ("f" if "." in text or "e" in text else ".0f")


def _comment(text: str) -> list[str]:
    """Return a comment, at spaces on several lines, that nothing in the text can end or continue."""
    words, lines = text.replace("*/", "* /").replace("\\", "/").replace("??/", "?? /").split(), [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) >= WIDTH:
            lines.append("")
        lines[-1] += " " * bool(lines[-1]) + word
    return [f"// {line}" for line in lines]
