"""The page on traces: its figures are those of the code and of the log."""

import gzip
from collections import Counter

import pytest

from hpcsched.workload.readers.quantities import whole_nodes
from tests.docs.pages import DOCS
from tests.real_traces import trace

PAGE = (DOCS / "traces.md").read_text(encoding="utf-8")
MIB = 2**20
CAPACITIES = (529426432 * 1024, 94035968 * 1024)


def rows(header: str) -> list[list[str]]:
    """Return the cells of the table whose header line begins like this."""
    lines = PAGE[PAGE.index(header) :].splitlines()[2:]
    table = lines[: next(n for n, line in enumerate(lines) if not line.startswith("|"))]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def test_whole_nodes() -> None:
    """Requests are packed as the table says, on nodes of 20 processors."""
    table = rows("| requested | units")
    assert len(table) == 6
    for requested, units, each in table:
        assert whole_nodes(int(requested), 20) == (int(units), int(each))


@pytest.fixture(scope="module")
def requests() -> Counter[int]:
    """Return how many records of CERIT-SC ask for so much; those for unlike nodes are left out."""
    with gzip.open(trace("CERIT-SC-2013.swf.gz"), "rt") as lines:
        fields = (line.split() for line in lines)
        return Counter(int(record[9]) for record in fields if "+" not in record[20])


@pytest.mark.parametrize("row", rows("| unit | `zewura`"), ids=lambda row: row[0])
def test_memory_in_units(row: list[str], requests: Counter[int]) -> None:
    """The table says what units of several sizes do to the requests of CERIT-SC."""
    number, _, name = row[0].partition(" ")
    unit = int(number) * {"MiB": MIB, "GiB": 1024 * MIB}[name]
    amounts = {asked: -(-asked // unit) for asked in requests}
    lost = sum(
        count
        for asked, count in requests.items()
        if any(asked <= c and amounts[asked] > c // unit for c in CAPACITIES)
    )
    total = sum(asked * count for asked, count in requests.items())
    grown = sum(amounts[asked] * unit * count for asked, count in requests.items()) / total - 1
    each = sum((amounts[asked] * unit / asked - 1) * n for asked, n in requests.items())
    mean = each / requests.total()
    held = " and ".join(f"{capacity // unit:,}" for capacity in CAPACITIES)
    assert row[1:] == [held, str(lost), f"{100 * grown:.3f} %", f"{100 * mean:.2f} %"]
