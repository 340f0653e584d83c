"""Comparing gives the papers' figures; the numbers are worked out by hand."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hpcsched.errors import InputError
from hpcsched.runs.solver_rounds import SolverRounds
from hpcsched.studies.problems.solving import (
    Objectives,
    Pairing,
    SolvedTable,
    comparison_tables,
    groups_of,
    head,
    objectives_of,
)
from tests.studies.problems.tables import SHA, pair, row, table


def text_of(found: Pairing, width: int | None = None) -> str:
    """Return what the command prints."""
    return "\n\n".join([head(found), *(one.as_text(width) for one in comparison_tables(found))])


@pytest.fixture
def pairing(tmp_path):
    """The tables made by hand."""
    return Pairing(*pair(tmp_path))


def test_objectives(pairing):
    """Table 6.2: over the six problems with comparable values."""
    assert objectives_of(pairing) == Objectives(
        compared=6, better=2, same=2, worse=2, not_solved=(1, 1), not_asked=(1, 1), unlike=1
    )


def test_groups(pairing):
    """Table 6.3, and how the tolerance of times moves problems within it."""
    groups = groups_of(pairing)
    assert groups.counts == ((1, 0, 1), (0, 1, 1), (1, 1, 0))
    assert groups.groups == (2, 2, 2)
    strict = groups_of(pairing, same_time=0)
    assert strict.counts == ((1, 0, 1), (0, 0, 2), (2, 0, 0))
    assert strict.groups == (1, 3, 2)
    # 1.0 and 0.5 are the same where the longer may be twice the shorter.
    assert groups_of(pairing, same_time=1).counts == ((0, 2, 0), (0, 1, 1), (1, 1, 0))


def ratios(pairing):
    """Return problems, shares below, at and above 1, and quantiles, by quantity."""
    return {row[0]: row[1:] for row in comparison_tables(pairing)[0].rows}


def test_ratios(pairing):
    """B / A by nearest rank, each over the problems that have both values."""
    found = ratios(pairing)
    ninths, thirds, sixths = (pytest.approx(100 / n) for n in (9, 3, 6))
    # 0.1, 0.2, 0.3, 0.4, 0.5, 1, 1, 1, 2
    assert found["decision variables"] == (
        9, pytest.approx(500 / 9), thirds, ninths, 0.1, 0.1, 0.1, 0.3, 0.5, 1, 2, 2, 2,
    )  # fmt: skip
    assert found["decision time"][:4] == (10, 40, 10, 50)
    assert (found["decision time"][4], found["decision time"][-1]) == (1 / 16, 16)
    # 0.5, 0 and 2: none at all is the best that B can do.
    assert found["fails"][:4] == (3, pytest.approx(200 / 3), 0, thirds)
    assert (found["fails"][4], found["fails"][-1]) == (0, 2)
    assert found["objective"][:4] == (6, thirds, sixths, 50)
    assert (found["objective"][4], found["objective"][-1]) == (0.5, 2)


def test_totals(pairing):
    """Over all problems, whether a solver was asked or not."""
    *_, totals = comparison_tables(pairing)
    found = {row[0]: row[1:] for row in totals.rows}
    assert found["fallbacks"] == (1, 1)
    assert found["decision time [s]"] == (pytest.approx(24.001), pytest.approx(26.602))
    assert found["jobs started"] == (7, 7)
    assert found["slowdown of these"] == (7.0, 7.0)
    assert found["starts more slowdown [%]"] == (10, 10)
    assert len(pairing) == 10


def test_without_a_plan(pairing):
    """Either had none for one of the nine problems that it asked a solver: more than a tenth."""
    assert pairing.solver == (SolverRounds(9, {"unknown": 1}), SolverRounds(9, {"unknown": 1}))
    told = "1 of 9 problems with a solver had no plan: unknown 1"
    for side, name, warned in zip("AB", "ab", pairing.warnings(), strict=True):
        assert warned.startswith(f"{name}: {told}; above 10 %")
        assert f"\n{side}: {told}.\n" in text_of(pairing)


def test_the_other_way_round(pairing):
    """Better becomes worse, and ratios their inverse."""
    back = Pairing(pairing.b, pairing.a)
    assert objectives_of(back).better == objectives_of(pairing).worse
    assert objectives_of(back).not_solved == objectives_of(pairing).not_solved[::-1]
    there, others = ratios(pairing), ratios(back)
    # Where A has no fails there is no ratio.
    assert (there.pop("fails")[0], others.pop("fails")[0]) == (3, 2)
    for name, one in there.items():
        assert (one[1], one[3]) == (others[name][3], others[name][1])
        assert one[4] == pytest.approx(1 / others[name][-1])
    counts = groups_of(pairing).counts
    assert groups_of(back).counts == tuple(line[::-1] for line in counts[::-1])


def test_no_problem(tmp_path):
    """There is nothing to say, and no fault."""
    found = Pairing(table(tmp_path / "a.parquet", []), table(tmp_path / "b.parquet", []))
    assert len(found) == objectives_of(found).compared == 0
    assert {value for row in ratios(found).values() for value in row[4:]} == {None}
    assert "–" in text_of(found)


def test_zeros_and_negative_values(tmp_path):
    """They have no ratio; which is better is known all the same."""
    a = table(tmp_path / "a.parquet", [row(1, 0.0, 0.0, 0), row(2, 1.0, -3.0, 4)])
    b = table(tmp_path / "b.parquet", [row(1, 1.0, 1.0, 3), row(2, 1.0, -4.0, 4)])
    found = Pairing(a, b)
    assert [one[0] for one in ratios(found).values()] == [1, 1, 0, 0]
    assert (objectives_of(found).better, objectives_of(found).worse) == (1, 1)
    assert groups_of(found).counts == ((0, 1, 0), (0, 0, 0), (0, 0, 1))


def test_a_shorter_table(tmp_path):
    """What both have is compared, with a warning."""
    a = table(tmp_path / "a.parquet", [row(1), row(2), row(3)])
    b = table(tmp_path / "b.parquet", [row(1), row(2)])
    warning = "a has 3 dispatching problems, b the first 2: only those are compared"
    for found in (Pairing(a, b), Pairing(b, a)):
        assert len(found) == 2
        assert list(found.warnings()) == [warning]


def test_other_objectives(tmp_path):
    """Their values are not compared, with a warning; the rest is."""
    a = table(tmp_path / "a.parquet", [row(1, 1, 2.0, 8)])
    b = table(tmp_path / "b.parquet", [row(1, 1, 2.0, 4)], objective={"name": "af"}, platform="x")
    found = Pairing(a, b)
    assert (objectives_of(found).compared, objectives_of(found).unlike) == (0, 1)
    assert [one[0] for one in ratios(found).values()] == [1, 1, 0, 0]
    assert list(found.warnings()) == [
        "a and b have different objectives: their values are not compared",
        "the tables were made on different machines: their times are not comparable",
    ]


def test_other_instances(tmp_path):
    """Tables of different problems are refused."""
    a = table(tmp_path / "a.parquet", [row(1)])
    other = {"file": "y.jsonl.gz", "sha256": "cd" * 32, "scenario": "tiny"}
    instances = a.about.instances.model_validate(other)
    b = table(tmp_path / "b.parquet", [row(1)], instances=instances)
    with pytest.raises(InputError) as caught:
        Pairing(a, b)
    assert str(caught.value) == (
        f"error: {a.path} and {b.path} are about different dispatching problems: x.jsonl.gz"
        " (SHA-256 abababababab…) and y.jsonl.gz (SHA-256 cdcdcdcdcdcd…) [other-instances]"
    )
    with pytest.raises(InputError, match="has other rounds than"):
        Pairing(a, table(tmp_path / "c.parquet", [row(2)]))


def test_text(pairing):
    """Tables, aligned, with what they mean below them."""
    text = text_of(pairing)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[0] == f"10 dispatching problems of tiny (SHA-256 {SHA[:12]}…)"
    assert lines[1].startswith("A: a, dispatcher list (")
    for line in (
        "B / A problems below 1 [%] at 1 [%] above 1 [%] min p1 p10 p25 p50 p75 p90 p99 max",
        "decision variables 9 55.5556 33.3333 11.1111 0.1 0.1 0.1 0.3 0.5 1 2 2 2",
        "objective of B problems of 6 compared [%]",
        "better 2 33.3333",
        "not solved by A 1 –",
        "unlike models 1 –",
        "better 16.6667 0 16.6667",
        "groups 1, 2, 3 33.3333 33.3333 33.3333",
        "fallbacks 1 1",
        "slowdown of these 7 7",
        "starts more slowdown [%] 10 10",
    ):
        assert line in lines
    assert "exceeds the shorter by at most 10 %" in text
    drawn = text_of(pairing, 80)
    assert "───" in drawn
    assert "unlike models" in drawn


def test_many_rows(tmp_path):
    """More than one row group."""
    rows = [row(number, number, 1.0, number) for number in range(1, 10_001)]
    a, b = (table(tmp_path / f"{name}.parquet", rows) for name in "ab")
    assert pq.ParquetFile(a.path).num_row_groups == 3
    assert objectives_of(Pairing(a, b)).same == 10_000


def test_opening(tmp_path):
    """A file; anything else is one message."""
    path = table(tmp_path / "a.parquet", [row(1)]).path
    assert len(SolvedTable.open(path)) == 1

    def refused(where, message):
        with pytest.raises(InputError, match=message) as caught:
            SolvedTable.open(where)
        assert "\n" not in str(caught.value)

    refused(tmp_path / "none", "there is no such table")
    (tmp_path / "text").write_text("round\n")
    refused(tmp_path / "text", "expected a Parquet table")
    pq.write_table(pa.table({"round": [1]}), tmp_path / "plain")
    refused(tmp_path / "plain", "it is no table of solved dispatching problems")
    good = pq.read_table(path)
    key = b"hpcsched-instances"
    about = json.loads(good.schema.metadata[key])
    for changed, message in (
        (json.dumps(about | {"format": 1}), "it is damaged: format: expected 2, found 1"),
        (json.dumps({"format": 2}), "it is damaged: the key 'name' is missing"),
        ("[]", "it is damaged"),
        ("{", "it is damaged"),
    ):
        pq.write_table(good.replace_schema_metadata({key: changed}), tmp_path / "bad")
        refused(tmp_path / "bad", message)
    pq.write_table(good.drop_columns("bound"), tmp_path / "bad")
    refused(tmp_path / "bad", "expected a column 'bound' of double")
