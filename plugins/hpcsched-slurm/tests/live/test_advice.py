"""Advice in words, and the file that holds it."""

import json
from pathlib import Path

import pytest

from hpcsched.dispatching.decision import Reason
from hpcsched_slurm.live.advice import Advice, advice_lines, in_words
from hpcsched_slurm.live.driver import Limits
from hpcsched_slurm.live.rounds import Round
from live.fake_cluster import FakeCluster
from live.sessions import session


def round_of(cluster: FakeCluster) -> Round:
    """Return the first round of a driver that advises on a cluster."""
    advising = session(cluster, None)
    advising.driver.run(Limits(None, 1, until_idle=False))
    return advising.rounds[0]


@pytest.fixture
def cluster() -> FakeCluster:
    """Two nodes of four cores, and three jobs of three cores that Slurm itself would start."""
    cluster = FakeCluster()
    for number in (11, 12, 13):
        cluster.submit(number, 3, 60, held=False)
    return cluster


def test_new_advice_is_told_once(cluster: FakeCluster) -> None:
    """Two jobs fit on the two nodes; later rounds that say the same add nothing."""
    advice, held = Advice(["a1", "a2"]), round_of(cluster)
    new = advice.take(held)
    assert [(one.key, one.nodes, one.why) for one in new] == [
        ("11", ("a1",), "in_order"), ("12", ("a2",), "in_order"),
    ]  # fmt: skip
    assert advice.take(held) == []


def test_the_file_has_what_the_cluster_did(cluster: FakeCluster, tmp_path: Path) -> None:
    """A line for each job that was advised on, also where the cluster has not started it."""
    advice = Advice(["a1", "a2"])
    advice.take(round_of(cluster))
    advice.write(tmp_path, {11: 70}, {11: ("a2",)})
    lines = [json.loads(line) for line in (tmp_path / "advice.jsonl").read_text().splitlines()]
    assert [(one["key"], one["started"], one["started_on"]) for one in lines] == [
        ("11", 70, ["a2"]), ("12", None, None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (None, "-"),
        (Reason(12, "in_order"), "in_order"),
        (Reason(12, "reserved_for", 11), "reserved_for 11"),
        (Reason(12, "reserved_for", 99), "reserved_for 99"),
        (Reason(12, "limit", detail="of the partition"), "limit of the partition"),
    ],
)
def test_reasons_in_words(cluster: FakeCluster, reason: Reason | None, words: str) -> None:
    """Jobs of the queue have the cluster's names."""
    assert in_words(reason, round_of(cluster).jobs) == words


@pytest.mark.parametrize(("most", "rows"), [(5, 3), (0, 2)])
def test_the_table_of_a_round(cluster: FakeCluster, most: int, rows: int) -> None:
    """Starts come first; of the jobs that wait some are shown, and the others counted."""
    lines = list(advice_lines(round_of(cluster), ["a1", "a2"], cluster.read(), most))
    head, *body = lines
    assert head.split("  ")[0] == "job"
    assert [line.split()[0] for line in body[:rows]] == ["11", "12", "13"][:rows]
    assert (lines[-1] == "and 1 more that wait") is (most == 0)
