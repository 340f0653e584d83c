"""What the paper's table 2 has for four logs, in percent of List-REG; our rows are beside it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

LOGS = ("KTH-SP2", "CTC-SP2", "SDSC-BLUE", "CEA-CURIE")
"""The columns of the table, by the labels of the experiment's cells."""

HALVES: Mapping[str, str] = {"actual": "known in advance", "requested-time": "as requested"}
"""What the halves of the table take run times to be, by predictor."""


class Row(NamedTuple):
    """A row of the table: an objective, a dispatcher, and percentages by log for each half.

    None stands for a number that is not legible in the copy that was at hand. Where `searches`, the
    dispatcher pursues the objective and has a run of its own for it. Without `printed`, the row is
    not in the paper.
    """

    objective: str
    dispatcher: str
    printed: Mapping[str, Sequence[int | None]]
    searches: bool = False


def _paper(
    objective: str, dispatcher: str, known: Sequence[int | None], requested: Sequence[int | None]
) -> Row:
    return Row(objective, dispatcher, {"actual": known, "requested-time": requested})


def _ours(objective: str, dispatcher: str) -> Row:
    return Row(objective, dispatcher, {}, searches=True)


ROWS = (
    _paper("BSLD", "CP-BSLD", (32, 18, 15, 23), (38, None, 25, None)),
    _paper("BSLD", "List-SPF", (29, 15, 13, 16), (43, 57, 82, 8)),
    _paper("BSLD", "List-SAF", (31, 17, 12, 16), (44, 58, 98, 7)),
    _paper("BSLD", "List-SJF", (33, 17, 15, 23), (44, 43, 43, 28)),
    _paper("BSLD", "EASY", (107, 129, 77, 125), (91, 76, 69, 19)),
    _ours("BSLD", "order-search"),
    _ours("BSLD", "hyper"),
    _paper("AF", "CP-AF", (76, 54, 48, 78), (74, 49, 52, 71)),
    _paper("AF", "List-SAF", (83, 67, 62, 79), (94, 86, 89, 72)),
    _paper("AF", "List-SJF", (82, 77, 56, 83), (81, 67, 69, 81)),
    _paper("AF", "EASY", (96, 90, 87, 93), (93, 76, 85, 80)),
    _ours("AF", "order-search"),
    _ours("AF", "hyper"),
    _paper("AWF", "CP-AWF", (None, 86, 89, 97), (91, 81, 87, 95)),
    _paper("AWF", "List-LAF", (94, 94, 92, 100), (94, 94, 91, 98)),
    _paper("AWF", "EASY", (101, 101, 100, 100), (101, None, 100, 99)),
    _ours("AWF", "order-search"),
    _ours("AWF", "hyper"),
    _paper("P2SF", "CP-P2SF", (92, 138, 125, 107), (94, 130, 130, 110)),
    _paper("P2SF", "EASY", (104, 106, 104, 101), (106, 100, 110, 102)),
    _ours("P2SF", "order-search"),
    _ours("P2SF", "hyper"),
)
