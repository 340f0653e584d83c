"""Calibration of quantiles by how earlier forecasts turned out.

Of well calibrated forecasts, a share p of the starts is before the quantile p. Where it is another
share, the quantile is taken at another level: the one before which a share p of earlier starts was
(V. Kuleshov, N. Fenner and S. Ermon, Accurate uncertainties for deep learning using calibrated
regression, 2018, section 3, here with the ranks of the last starts as they become known).
"""

from collections import deque

import numpy as np

FEWEST = 50
"""Number of ranks below which levels are not changed."""
REMEMBERED = 400
"""Number of ranks that are remembered."""


class Calibration:
    """Ranks of start times among the samples of their forecasts."""

    def __init__(self) -> None:
        self._ranks: deque[float] = deque(maxlen=REMEMBERED)

    def add(self, rank: float) -> None:
        """Note the rank of a start time that has become known, from 0 to 1."""
        self._ranks.append(rank)

    def level(self, share: float) -> float:
        """Return the level at which to take the quantile of a share.

        Parameters
        ----------
        share
            From 0 to 1.
        """
        if len(self._ranks) < FEWEST:
            return share
        return float(np.quantile(np.array(self._ranks), share))
