"""What the paper's table 2 has for five logs, in percent of List-REG; our rows are beside it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

LOGS = ("KTH-SP2", "CTC-SP2", "SDSC-SP2", "SDSC-BLUE", "CEA-CURIE")
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
    _paper("BSLD", "CP-BSLD", (32, 18, 27, 15, 23), (38, None, 45, 25, None)),
    _paper("BSLD", "List-SPF", (29, 15, None, 13, 16), (43, 57, 97, 82, 8)),
    _paper("BSLD", "List-SAF", (31, 17, 23, 12, 16), (44, 58, 109, 98, 7)),
    _paper("BSLD", "List-SJF", (33, 17, 27, 15, 23), (44, 43, 77, 43, 28)),
    _paper("BSLD", "EASY", (107, 129, 106, 77, 125), (91, 76, 86, 69, 19)),
    _ours("BSLD", "order-search"),
    _ours("BSLD", "hyper"),
    _paper("AF", "CP-AF", (76, 54, 70, 48, 78), (74, 49, 91, 52, 71)),
    _paper("AF", "List-SAF", (83, 67, None, 62, 79), (94, 86, 240, 89, 72)),
    _paper("AF", "List-SJF", (82, 77, 114, 56, 83), (81, 67, 149, 69, 81)),
    _paper("AF", "EASY", (96, 90, None, 87, 93), (93, 76, 88, 85, 80)),
    _ours("AF", "order-search"),
    _ours("AF", "hyper"),
    _paper("AWF", "CP-AWF", (None, 86, 78, 89, 97), (91, 81, 73, 87, 95)),
    _paper("AWF", "List-LAF", (94, 94, 83, 92, 100), (94, 94, 75, 91, 98)),
    _paper("AWF", "EASY", (101, 101, 100, 100, 100), (101, None, 94, 100, 99)),
    _ours("AWF", "order-search"),
    _ours("AWF", "hyper"),
    _paper("P2SF", "CP-P2SF", (92, 138, 151, 125, 107), (94, 130, 122, 130, 110)),
    _paper("P2SF", "EASY", (104, 106, 109, 104, 101), (106, 100, 99, 110, 102)),
    _ours("P2SF", "order-search"),
    _ours("P2SF", "hyper"),
)
