"""Files of networks: both ways, and every damage is one line."""

import random
import re

import numpy as np
import pytest

from games.streams import InputError
from tests.support import refusal
from tests.tuner.evaluation.networks.support import SHAPES, network
from tuner.evaluation.networks.files import (
    NetworkFile,
    holds_network,
    read_network,
    weights_path,
    write_network,
)

MUTATED = 300


def inputs_of(game: str, encoding: str) -> int:
    if (game, encoding) != ("backgammon", "tiny5"):
        raise ValueError(f"unknown encoding {encoding[:20]!r}")
    return 5


def write_example(path, scale=None):
    write_network(
        path, NetworkFile("backgammon", "tiny5", network(5, SHAPES[3]), 3, 'he said "so"\n', scale)
    )


@pytest.fixture
def file(tmp_path):
    write_example(tmp_path / "net.yaml")
    return tmp_path / "net.yaml"


def test_what_is_written_is_read(file):
    found = read_network(file, inputs_of)
    assert (found.game, found.encoding, found.points, found.origin) == (
        "backgammon",
        "tiny5",
        3,
        "he said  so  ",
    )
    assert [layer.activation for layer in found.network.layers] == ["relu", "tanh", "tanh"]
    assert (found.network.flat() == network(5, SHAPES[3]).flat()).all()


@pytest.mark.parametrize("scale", [None, 0.0025, 1e-5, 1.0])
def test_scales_are_read(tmp_path, scale):
    write_example(tmp_path / "net.yaml", scale)
    assert read_network(tmp_path / "net.yaml", inputs_of).scale == scale
    assert holds_network(tmp_path / "net.yaml")
    (tmp_path / "net.yaml").write_text("game: backgammon\nweights: {}\n")
    assert not holds_network(tmp_path / "net.yaml")


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("tiny5", "huge", "net.yaml:2: unknown encoding 'huge'"),
        (
            "7 relu",
            "7 elu",
            (
                'net.yaml:3: layers[0] is "7 elu", expected a width up to 4096 and one of linear,'
                " relu, tanh, sigmoid"
            ),
        ),
        (
            "7 relu",
            "8 relu",
            "net.npz: weights0 is float64 (5, 7), expected float32 (5, 8); write the network again",
        ),
        (
            "points: 3",
            "points: 0",
            "net.yaml:4: points is 0, expected a whole number of 1 or more",
        ),
        (
            "game: backgammon\n",
            "",
            "net.yaml:1: lacks 'game'",
        ),
        (
            "game:",
            "color: red\ngame:",
            "net.yaml:1: no key 'color'; expected game, encoding, layers, points, origin, scale",
        ),
        (
            "points: 3",
            "scale: -1\npoints: 3",
            "net.yaml:4: scale is -1, expected a number above 0 and at most 1",
        ),
    ],
)
def test_mistakes_are_named(file, old, new, message):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    assert refusal(read_network, file, inputs_of).endswith(message)


@pytest.mark.parametrize("value", [1e30, -1e7, np.inf, np.nan])
def test_weights_of_which_sums_overflow_are_refused(file, value):
    with np.load(file.with_suffix(".npz")) as saved:
        arrays = {name: saved[name].copy() for name in saved.files}
    arrays["weights0"][0, 0] = value
    np.savez(file.with_suffix(".npz"), **arrays)
    assert "weights0 has numbers beyond 1e+06 or none" in refusal(read_network, file, inputs_of)


def test_weights_are_never_unpickled(file):
    with np.load(weights_path(file)) as arrays:
        kept = dict(arrays)
    kept["biases0"] = np.array([object()] * 7)
    np.savez(weights_path(file), **kept)
    assert re.search(r"biases0 (cannot be read|is larger)", refusal(read_network, file, inputs_of))
    weights_path(file).unlink()
    assert "no such file; the weights of a network are next to its .yaml" in refusal(
        read_network, file, inputs_of
    )


@pytest.mark.parametrize("suffix", [".yaml", ".npz"])
def test_mutated_files_are_read_or_refused_in_one_line(file, suffix):
    chance, target = random.Random(1), file.with_suffix(suffix)
    whole, refused = target.read_bytes(), 0
    for _ in range(MUTATED):
        content = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(content))
            kind = chance.randrange(3)
            if kind == 0:
                content[at] = chance.randrange(256)
            elif kind == 1:
                del content[at : at + chance.choice([1, 1, 8, 500])]
            else:
                content[at:at] = bytes(chance.randrange(256) for _ in range(chance.choice([1, 8])))
            if not content:
                break
        target.write_bytes(content)
        try:
            found = read_network(file, inputs_of)
            assert np.isfinite(found.network.flat()).all()
        except InputError as problem:
            assert "\n" not in str(problem) and str(file.parent) in str(problem)
            refused += 1
    assert refused > MUTATED // 4
