"""Tables over runs by their metrics: means over seeds and ranks, by hand."""

from pathlib import Path

from hpcsched.report.tables.study_tables import ranks, replicas
from tests.report.studies import table_rows, tables_of, write_experiment, write_studied
from tests.runs.hand_made import tamper_json


def set_metric(path: Path, metric: str, value: float | None) -> None:
    """Give a run another value of a metric."""
    tamper_json(path / "summary.json", lambda content: content["metrics"].update({metric: value}))


def test_replicas(tmp_path: Path) -> None:
    """Means over seeds, and of differences from the baseline's run with the same seed."""
    paths = []
    for name, values in (("easy", (10, 20, 60)), ("sjf", (7, 15, 53))):
        for seed, value in enumerate(values):
            path = write_studied(tmp_path / f"{name}{seed}", name=name, seed=seed)
            set_metric(path, "mean_wait_time", value)
            paths.append(path)
    table = replicas(tables_of(paths))
    easy, sjf = table_rows(table, metric="mean_wait_time")
    assert (easy["configuration"], easy["runs"], easy["mean"], easy["pairs"]) == ("easy", 3, 30, 0)
    assert 10 <= easy["lower"] < 30 < easy["upper"] <= 60
    assert (sjf["mean"], sjf["pairs"], sjf["mean_difference"]) == (25, 3, -5)
    assert -7 <= sjf["difference_lower"] < -5 < sjf["difference_upper"] <= -3


def test_ranks(tmp_path: Path) -> None:
    """The least value is first, of utilization the largest; those equal up to rounding share it."""
    paths = []
    values = {"a": (1.0, 5.0), "b": (2.0, 5.000000000000001), "c": (3.0, 1.0)}
    for name, of_traces in values.items():
        for trace, value in zip(("kth", "ctc"), of_traces, strict=True):
            path = write_studied(tmp_path / name / trace, name=name, trace=trace)
            set_metric(path, "mean_wait_time", value)
            set_metric(path, "utilization", value)
            paths.append(path)
    table = ranks(tables_of(paths))
    waits = table_rows(table, metric="mean_wait_time")
    assert {row["configuration"]: row["mean_rank"] for row in waits} == {
        "a": (1 + 2.5) / 2,
        "b": (2 + 2.5) / 2,
        "c": (3 + 1) / 2,
    }
    assert [row["alone_in_front"] for row in waits] == [1, 0, 1]
    uses = table_rows(table, metric="utilization")
    assert {row["configuration"]: row["mean_rank"] for row in uses} == {
        "a": (3 + 1.5) / 2,
        "b": (2 + 1.5) / 2,
        "c": (1 + 3) / 2,
    }


def test_ranks_are_over_cases_that_all_have(tmp_path: Path) -> None:
    """A trace and seed that one configuration lacks tell nothing of who is ahead."""
    write_experiment(tmp_path)
    assert {row["cases"] for row in table_rows(ranks(tables_of([tmp_path])))} == {3}
