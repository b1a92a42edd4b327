"""How chess engines print their static evaluations."""

from __future__ import annotations

from games.evaluators import EvaluationPattern
from games.protocol.declared import NUMBER

# by the names that users may give; the first that matches an engine's answer is its own
PATTERNS = {
    "tuner": EvaluationPattern(rf"^static evaluation {NUMBER} cp \(white side\)"),
    "stockfish": EvaluationPattern(rf"^(?:Final|Total) evaluation:?\s+{NUMBER}\s+\(white side\)", 100.0),
    "stockfish-classical": EvaluationPattern(rf"^Classical evaluation:?\s+{NUMBER}\s+\(white side\)", 100.0),
}
