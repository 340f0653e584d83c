"""Comparing gives the papers' figures; the numbers are worked out by hand."""

import json
from dataclasses import asdict

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hpcsched.errors import InputError
from hpcsched.runs.solver_rounds import SolverRounds
from hpcsched.studies.problems.comparison import (
    Comparison,
    Objectives,
    Pairing,
    compare,
    comparison_tables,
    head,
)
from hpcsched.studies.problems.solving import SolvedTable
from tests.studies.problems.tables import SHA, pair, row, table


def text_of(found: Comparison, width: int | None = None) -> str:
    """Return what the command prints."""
    return "\n\n".join([head(found), *(one.as_text(width) for one in comparison_tables(found))])


@pytest.fixture
def pairing(tmp_path):
    """The tables made by hand."""
    return Pairing(*pair(tmp_path))


def test_objectives(pairing):
    """Table 6.2: over the six problems with comparable values."""
    assert compare(pairing).objectives == Objectives(
        compared=6, better=2, same=2, worse=2, not_solved=(1, 1), not_asked=(1, 1), unlike=1
    )


def test_groups(pairing):
    """Table 6.3, and how the tolerance of times moves problems within it."""
    groups = compare(pairing).groups
    assert groups.counts == ((1, 0, 1), (0, 1, 1), (1, 1, 0))
    assert groups.groups == (2, 2, 2)
    strict = compare(pairing, same_time=0).groups
    assert strict.counts == ((1, 0, 1), (0, 0, 2), (2, 0, 0))
    assert strict.groups == (1, 3, 2)
    # 1.0 and 0.5 are the same where the longer may be twice the shorter.
    assert compare(pairing, same_time=1).groups.counts == ((0, 2, 0), (0, 1, 1), (1, 1, 0))


def test_ratios(pairing):
    """B / A by nearest rank, each over the problems that have both values."""
    variables, times, fails, objectives = compare(pairing).ratios
    assert (variables.quantity, variables.problems) == ("variables", 9)
    assert (variables.below, variables.one, variables.above) == (5, 3, 1)
    # 0.1, 0.2, 0.3, 0.4, 0.5, 1, 1, 1, 2
    assert variables.quantiles == {
        "min": 0.1, "p1": 0.1, "p10": 0.1, "p25": 0.3, "p50": 0.5, "p75": 1, "p90": 2, "p99": 2,
        "max": 2,
    }  # fmt: skip
    assert (times.problems, times.below, times.one, times.above) == (10, 4, 1, 5)
    assert (times.quantiles["min"], times.quantiles["max"]) == (1 / 16, 16)
    # 0.5, 0 and 2: none at all is the best that B can do.
    assert (fails.problems, fails.below, fails.one, fails.above) == (3, 2, 0, 1)
    assert (fails.quantiles["min"], fails.quantiles["max"]) == (0, 2)
    assert (objectives.problems, objectives.below, objectives.one, objectives.above) == (6, 2, 1, 3)
    assert (objectives.quantiles["min"], objectives.quantiles["max"]) == (0.5, 2)


def test_totals(pairing):
    """Over all problems, whether a solver was asked or not."""
    found = compare(pairing)
    assert found.fallbacks == (1, 1)
    assert found.decision_time == (pytest.approx(24.001), pytest.approx(26.602))
    assert found.started.jobs == (7, 7)
    assert found.started.slowdown == (7.0, 7.0)
    assert (found.started.more, found.started.same, found.started.less) == (1, 8, 1)
    assert found.problems == 10


def test_without_a_plan(pairing):
    """Either had none for one of the nine problems that it asked a solver: more than a tenth."""
    found = compare(pairing)
    assert found.solver == (SolverRounds(9, {"unknown": 1}), SolverRounds(9, {"unknown": 1}))
    told = "1 of 9 problems with a solver had no plan: unknown 1"
    for side, name, warned in zip("AB", "ab", found.warnings, strict=True):
        assert warned.startswith(f"{name}: {told}; above 10 %")
        assert f"\n{side}: {told}.\n" in text_of(found)


def test_the_other_way_round(pairing):
    """Better becomes worse, and ratios their inverse."""
    there, back = compare(pairing), compare(Pairing(pairing.b, pairing.a))
    assert back.objectives.better == there.objectives.worse
    assert back.objectives.not_solved == there.objectives.not_solved[::-1]
    for one, other in zip(there.ratios, back.ratios, strict=True):
        if one.quantity == "fails":  # where A has none there is no ratio
            assert (one.problems, other.problems) == (3, 2)
            continue
        assert (one.below, one.above) == (other.above, other.below)
        assert one.quantiles["min"] == pytest.approx(1 / other.quantiles["max"])
    assert back.groups.counts == tuple(line[::-1] for line in there.groups.counts[::-1])


def test_no_problem(tmp_path):
    """There is nothing to say, and no fault."""
    found = compare(Pairing(table(tmp_path / "a.parquet", []), table(tmp_path / "b.parquet", [])))
    assert found.problems == found.objectives.compared == 0
    assert {value for ratio in found.ratios for value in ratio.quantiles.values()} == {None}
    assert "–" in text_of(found)


def test_zeros_and_negative_values(tmp_path):
    """They have no ratio; which is better is known all the same."""
    a = table(tmp_path / "a.parquet", [row(1, 0.0, 0.0, 0), row(2, 1.0, -3.0, 4)])
    b = table(tmp_path / "b.parquet", [row(1, 1.0, 1.0, 3), row(2, 1.0, -4.0, 4)])
    found = compare(Pairing(a, b))
    assert [ratio.problems for ratio in found.ratios] == [1, 1, 0, 0]
    assert (found.objectives.better, found.objectives.worse) == (1, 1)
    assert found.groups.counts == ((0, 1, 0), (0, 0, 0), (0, 0, 1))


def test_a_shorter_table(tmp_path):
    """What both have is compared, with a warning."""
    a = table(tmp_path / "a.parquet", [row(1), row(2), row(3)])
    b = table(tmp_path / "b.parquet", [row(1), row(2)])
    warning = "a has 3 dispatching problems, b the first 2: only those are compared"
    for found in (compare(Pairing(a, b)), compare(Pairing(b, a))):
        assert found.problems == 2
        assert found.warnings == (warning,)


def test_other_objectives(tmp_path):
    """Their values are not compared, with a warning; the rest is."""
    a = table(tmp_path / "a.parquet", [row(1, 1, 2.0, 8)])
    b = table(tmp_path / "b.parquet", [row(1, 1, 2.0, 4)], objective={"name": "af"}, platform="x")
    found = compare(Pairing(a, b))
    assert (found.objectives.compared, found.objectives.unlike) == (0, 1)
    assert [ratio.problems for ratio in found.ratios] == [1, 1, 0, 0]
    assert found.warnings == (
        "a and b have different objectives: their values are not compared",
        "the tables were made on different machines: their times are not comparable",
    )


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
    text = text_of(compare(pairing))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[0] == f"10 dispatching problems of tiny (SHA-256 {SHA[:12]}…)"
    assert lines[1].startswith("A: a, dispatcher list (")
    for line in (
        "ratio B / A problems below 1 at 1 above 1 min 1 % 10 % 25 % 50 % 75 % 90 % 99 % max",
        "decision variables 9 55.6 % 33.3 % 11.1 % 0.1 0.1 0.1 0.3 0.5 1 2 2 2",
        "objective of B problems of 6 compared",
        "better 2 33.3 %",
        "not solved by A 1",
        "unlike models 1",
        "better objective 16.7 % 0.0 % 16.7 %",
        "together 33.3 % 33.3 % 33.3 %",
        "fallbacks 1 1",
        "slowdown of these 7.00 7.00",
        "starts more slowdown 10.0 % 10.0 %",
    ):
        assert line in lines
    assert "exceeds the shorter by at most 10 %" in text
    drawn = text_of(compare(pairing), 80)
    assert "───" in drawn
    assert "unlike models" in drawn


def test_json(pairing):
    """Exact values."""
    content = json.loads(json.dumps(asdict(compare(pairing, 0.25))))
    assert content["same_time"] == 0.25
    assert content["ratios"][0]["quantiles"] == {
        "min": 0.1, "p1": 0.1, "p10": 0.1, "p25": 0.3, "p50": 0.5, "p75": 1, "p90": 2, "p99": 2,
        "max": 2,
    }  # fmt: skip
    assert content["objectives"]["not_solved"] == [1, 1]
    assert content["groups"] == {
        "counts": [[1, 0, 1], [0, 1, 1], [1, 1, 0]],
        "groups": [2, 2, 2],
    }


def test_many_rows(tmp_path):
    """More than one row group."""
    rows = [row(number, number, 1.0, number) for number in range(1, 10_001)]
    a, b = (table(tmp_path / f"{name}.parquet", rows) for name in "ab")
    assert pq.ParquetFile(a.path).num_row_groups == 3
    assert compare(Pairing(a, b)).objectives.same == 10_000


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
