"""Some positions of a dataset, as a dataset."""

import numpy as np

from tests.tuner.datasets.rows.support import SMALL, STAGES, random_rows
from tuner.datasets.files import only
from tuner.datasets.rows.build import build_rows
from tuner.datasets.rows.formats import batches_of
from tuner.learn.build import selected
from tuner.parameters.parameters import Parameters


def test_everything_that_rows_hold_is_selected(tmp_path):
    """The rest, fractions of counts, scales, scores and texts as well."""
    batch = random_rows(1, 300)
    batch = only(batch, np.isfinite(batch.outcome))
    parameters = Parameters("chess", SMALL, STAGES, np.zeros((2, SMALL.size)))
    data, _, _ = build_rows([batch], tmp_path / "all", parameters, [])
    keep = np.random.default_rng(2).random(data.positions) < 0.6
    chosen = selected(data, keep, tmp_path / "some")
    (wanted,), (found,) = list(batches_of(data)), list(batches_of(chosen))
    wanted = only(wanted, keep)
    assert (wanted.count != np.rint(wanted.count)).any() and wanted.rest.any() and any(wanted.text)
    for name in wanted._fields:
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name), err_msg=name)
    assert chosen.game.tolist() == list(dict.fromkeys(wanted.game.tolist()))
