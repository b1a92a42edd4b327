"""The compilation unit of networks: an edit to any of its sources compiles all of it again."""

from __future__ import annotations

from games import jit

SOURCES = [
    *jit.modules("games", "addresses bits"),
    *jit.modules("tuner.networks", "calls encode forward gradient matches score td unit"),
]
NETWORKS = jit.Unit("networks", lambda: SOURCES)
inner = NETWORKS.inner
entry = NETWORKS.entry
