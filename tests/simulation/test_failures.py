"""Where failures come from: a file, and a model of them."""

from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import mean

import pytest

from hpcsched.errors import InputError
from hpcsched.scenario.outage_declarations import FailureDeclaration, _exponential
from hpcsched.simulation.failure_log import read_failures
from hpcsched.system.outages import Outage, down_time
from hpcsched.system.system import NodeGroup, System

SYSTEM = System((NodeGroup("thin", 2, {"core": 1}), NodeGroup("fat", 1, {"core": 4})))


def test_a_file(tmp_path: Path) -> None:
    """Nodes are named, times are seconds; comments and empty lines are passed over."""
    path = tmp_path / "failures.csv"
    path.write_text("# from the console log\nnode,from,until\n\nfat-0, 5,9\nthin-1,0,1\n")
    assert list(read_failures(path, SYSTEM)) == [
        Outage(5, 9, (2,), "failure"),
        Outage(0, 1, (1,), "failure"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ": error: expected the header node,from,until, found none"),
        ("thin-0,0,1\n", ":1: error: expected the header node,from,until, found thin-0,0,1"),
        ("node,from,until\nthin-0,0\n", ":2: error: expected 3 fields, found 2"),
        (
            "node,from,until\n\nthin-2,0,1\n",
            ":3: error: there is no node 'thin-2'; the first is thin-0, the last fat-0",
        ),
        ("node,from,until\nfat-0,-1,1\n", ":2: error: expected whole seconds from 0 to"),
        ("node,from,until\nfat-0,1.5,9\n", "found '1.5'"),
        ("node,from,until\nfat-0,7,7\n", ":2: error: expected an end after 7, found 7"),
        (f"node,from,until\n{'x' * 2**18},0,1\n", ":2: error: field larger than field limit"),
        ("node,from,until\nfat-0,0,99999999999999999999\n", "found '99999999999999999999'"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    """One message, with the line."""
    path = tmp_path / "failures.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        list(read_failures(path, SYSTEM))
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


def test_the_latest_second(tmp_path: Path) -> None:
    """2^53 is the last second that a time may name."""
    path = tmp_path / "failures.csv"
    path.write_text(f"node,from,until\nfat-0,0,{2**53}\n")
    assert list(read_failures(path, SYSTEM)) == [Outage(0, 2**53, (2,), "failure")]
    path.write_text(f"node,from,until\nfat-0,0,{2**53 + 1}\n")
    with pytest.raises(InputError, match=f"from 0 to {2**53}, found '{2**53 + 1}'"):
        list(read_failures(path, SYSTEM))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """Not there, and not text."""
    with pytest.raises(InputError, match="it cannot be read: No such file"):
        list(read_failures(tmp_path / "none.csv", SYSTEM))
    (tmp_path / "packed.csv").write_bytes(b"\x1f\x8b\xff")
    with pytest.raises(InputError, match="it is not UTF-8 text"):
        list(read_failures(tmp_path / "packed.csv", SYSTEM))


def failures(
    up_time: int, repair_time: int, shape: float, start: int, end: int, name: str | None = None
) -> FailureDeclaration:
    """Return a model of failures."""
    return FailureDeclaration(
        mean_up_time=up_time,
        mean_repair_time=repair_time,
        shape=shape,
        start=start,
        end=end,
        name=name,
    )


@pytest.mark.parametrize("shape", [0.7, 1.0, 2.0])
def test_a_model(shape: float) -> None:
    """Means come out as declared; a node's failures are apart and begin in time."""
    model = failures(5_000, 300, shape, 1_000, 10_000_000)
    drawn = list(model.draw((0, 2), 7))
    for node in (0, 2):
        own = [outage for outage in drawn if outage.nodes == (node,)]
        ups = [b.start - a.end for a, b in pairwise(own)]
        assert len(own) > 1_500
        assert min(ups) >= 0
        assert mean(ups) == pytest.approx(5_000, rel=0.1)
        assert mean(outage.end - outage.start for outage in own) == pytest.approx(300, rel=0.1)
        assert own[0].start >= 1_000
        assert own[-1].start < 10_000_000
    assert {outage.kind for outage in drawn} == {"failure"}
    assert drawn == list(model.draw((0, 2), 7))
    assert drawn != list(model.draw((0, 2), 8))


def test_the_numbers_of_a_seed() -> None:
    """What is drawn stays the same from version to version."""
    drawn = list(failures(100, 10, 0.8, 0, 400, "old").draw((3,), 0))
    found = [(outage.start, outage.end) for outage in drawn]
    assert found == [(117, 119), (133, 158), (215, 225), (226, 234), (323, 326), (337, 348)]
    assert {outage.label for outage in drawn} == {"failure old"}


class Draws(Random):
    """Draws one number again and again."""

    def __init__(self, number: float) -> None:
        super().__init__()
        self._number = number

    def random(self) -> float:
        """Return it."""
        return self._number


def test_numbers_that_are_drawn() -> None:
    """The median is log 2; for 0 stands the least that any other number gives, that of 2^-53."""
    assert _exponential(Draws(0.5)) == pytest.approx(0.693147)
    assert _exponential(Draws(0.0)) == _exponential(Draws(2.0**-53)) == 2.0**-53


def test_a_failure_at_the_end_is_none() -> None:
    """The first of the failures above is at 117, where the time for them ends or goes on."""
    assert not list(failures(100, 10, 0.8, 0, 117).draw((3,), 0))
    (first,) = failures(100, 10, 0.8, 0, 118).draw((3,), 0)
    assert (first.start, first.end) == (117, 119)


def test_a_repair_takes_a_second_at_least() -> None:
    """Repairs of a second on the mean: those of less are rounded up, and later ones follow."""
    drawn = list(failures(20, 1, 1.0, 0, 2_000).draw((0,), 0))
    lengths = [outage.end - outage.start for outage in drawn]
    assert min(lengths) == 1 < max(lengths)
    assert all(before.end <= after.start for before, after in pairwise(drawn))


def test_a_node_depends_on_no_other() -> None:
    """A node fails when it does whatever other nodes are declared with it."""
    alone = failures(50, 5, 1.0, 0, 1_000).draw((5,), 3)
    others = failures(50, 5, 1.0, 0, 1_000).draw((1, 5, 9), 3)
    assert [outage for outage in others if outage.nodes == (5,)] == list(alone)


def test_down_time_is_joined() -> None:
    """Outages of a node that meet or overlap are one time out of service."""
    down = down_time(
        [
            Outage(0, 4, (0, 1), "failure"),
            Outage(4, 6, (1,), "maintenance"),
            Outage(2, 3, (1,), "failure"),
            Outage(8, 9, (1,), "failure"),
        ]
    )
    found = list(zip(down.node.tolist(), down.start.tolist(), down.end.tolist(), strict=True))
    assert found == [(0, 0, 4), (1, 0, 6), (1, 8, 9)]
    assert down.within(3, 9).tolist() == [1, 3, 1]
