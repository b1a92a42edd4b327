"""A small engine as its author has it, whose loop is played by the commands themselves."""

import sys
from pathlib import Path

import yaml

EVAL = """\
// a pawn is worth more than a queen
const int PawnValue = 100;
const int KnightValue = 60;
const int BishopValue = 60;
const int RookValue = 60;
const int QueenValue = 60;
const int Tempo[1] = {10};
"""
SOURCE = {"folder": "engine", "files": ["src/eval.h"]}
NUMBERS = "100 60 60 60 60 10"
PARAMS = """\
game: chess
scale: 0.003
stages: [all]
terms: rows
weights:
  material: {pawn: 0, knight: 0, bishop: 0, rook: 0, queen: 0}
  tempo: {tempo: 0}
"""
NAMES = """\
material.pawn: PawnValue
material.knight: KnightValue
material.bishop: BishopValue
material.rook: RookValue
material.queen: QueenValue
tempo.tempo: Tempo
"""
BUILD = """\
set -e
(echo '#!PYTHON'; echo "EVAL = '''"; cat src/eval.h; echo "'''"; echo 'AUTHOR = "NUMBERS"'
cat src/engine.py) > myengine
chmod +x myengine
"""


def write_small(folder: Path, how: str = "", counts: str = "", **changes: object) -> Path:
    """Write the engine's folder and the plan of a short loop; return the plan. `how` is what it
    does wrong as it plays, `counts` in its rows."""
    (folder / "engine" / "src").mkdir(parents=True)
    source = folder / "engine"
    (source / "src" / "eval.h").write_text(EVAL)
    own = Path(__file__).with_name("engine.py").read_text()
    (source / "src" / "engine.py").write_text(own)
    (source / "build.sh").write_text(
        BUILD.replace("PYTHON", sys.executable).replace("NUMBERS", NUMBERS)
    )
    (folder / "start.yaml").write_text(PARAMS)
    (folder / "names.yaml").write_text(NAMES)
    plan = {
        "plays": f"./myengine play {how}".strip(),
        "rows": f"./myengine rows {counts}".strip(),
        "params": "start.yaml",
        "source": {**SOURCE, "map": "names.yaml"},
        "build": "sh build.sh",
        "games": 100,
        "limit": {"depth": 1},
        "match": {"games": 40, "pool_games": 20, "verdict_games": 40},
        "rounds": 2,
        "learn": {"lambda": 1},
    }
    if "evals" in changes:
        plan |= {"rows": None, "params": None, "source": dict(SOURCE)}
    plan |= changes
    path = folder / "improve.yaml"
    plan = {name: value for name, value in plan.items() if value is not None}
    path.write_text(yaml.safe_dump(plan, sort_keys=False))
    return path
