"""What tables 1 and 2 of Galleguillos, Kiziltan and Soto (CP 2021, section 5) print.

Their logs are those of Eurora and of ForHLR II, their solver and machine are others than ours.
"""

from collections.abc import Mapping
from typing import NamedTuple


class Printed(NamedTuple):
    """A row: the mean time of a decision in ms, and the time of the whole simulation in s.

    Both are None where the paper has ∞: the simulation did not come to an end.
    """

    decision: int | None
    simulation: int | None


TRACES: Mapping[str, str] = {
    "eurora": "Table 1: on `eurora-like`, which stands in for the log of Eurora",
    "kit": "Table 2: on `kit-like`, which stands in for the log of ForHLR II",
}
"""The titles of the tables, by label of the trace."""

DISPATCHERS: Mapping[str, str] = {
    "hcp19": "HCP'19",
    "pcp19": "PCP'19",
    "pcp21": "PCP'21",
    "pcp21s": "PCP'21s",
}
"""What the paper calls its dispatchers, by label."""

PRINTED: Mapping[tuple[str, str, str], Printed] = {
    ("eurora", "hcp19", "D"): Printed(392, 208_231),
    ("eurora", "pcp19", "D"): Printed(511, 271_586),
    ("eurora", "pcp21", "D"): Printed(209, 111_373),
    ("eurora", "hcp19", "R"): Printed(357, 189_522),
    ("eurora", "pcp19", "R"): Printed(469, 249_367),
    ("eurora", "pcp21", "R"): Printed(256, 136_401),
    ("kit", "hcp19", "L2"): Printed(278, 56_083),
    ("kit", "pcp19", "L2"): Printed(None, None),
    ("kit", "pcp21", "L2"): Printed(493, 99_590),
    ("kit", "pcp21s", "L2"): Printed(334, 67_471),
    ("kit", "hcp19", "R"): Printed(269, 54_289),
    ("kit", "pcp19", "R"): Printed(None, None),
    ("kit", "pcp21", "R"): Printed(476, 96_030),
    ("kit", "pcp21s", "R"): Printed(342, 69_094),
}
"""The rows in the paper's order, by labels of trace, dispatcher and predictor."""
