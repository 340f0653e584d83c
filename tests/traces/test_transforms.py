"""Transforms of a real log: KTH-SP2."""

from pathlib import Path

import pytest

from hpcsched.runs.assembly import assemble
from hpcsched.scenario import load_scenario
from hpcsched.workload.trace_source import TraceSource
from hpcsched.workload.trace_statistics import TraceStatistics, trace_statistics
from tests.real_traces import KTH_SP2, trace

SCENARIO = """\
name: kth
system: {groups: [{name: node, count: 100, resources: {core: 1, mem: 4GiB}}]}
trace: {source: swf, path: %s, unit: {core: 1}, transforms: %s}
dispatcher: easy
"""


@pytest.fixture
def statistics_of(tmp_path: Path):
    """Return a function from transforms to the source of KTH-SP2 and its statistics."""
    log = trace(KTH_SP2)

    def take(transforms: str) -> tuple[TraceSource, TraceStatistics]:
        path = tmp_path / "kth.yaml"
        path.write_text(SCENARIO % (log, transforms), encoding="utf-8")
        parts = assemble(load_scenario(path))
        return parts.source, trace_statistics(parts.source, parts.system, (3600, 18000))

    return take


def test_load(statistics_of) -> None:
    """A quarter more load by denser submissions is that to within rounding."""
    (_, plain), (_, denser) = (
        statistics_of("[]"),
        statistics_of("[{name: scale-load, factor: 1.25}]"),
    )
    ratio = denser.offered_load.by_demand_percent / plain.offered_load.by_demand_percent
    assert ratio == pytest.approx(1.25, rel=1e-6)
    assert denser.run_times == plain.run_times


def test_users(statistics_of) -> None:
    """Half of the 214 users are sampled, within 3.5 standard deviations, with all their jobs."""
    _, plain = statistics_of("[]")
    source, half = statistics_of("[{name: sample-users, share: 0.5}]")
    assert plain.submitters.users == 214
    assert abs(half.submitters.users - 107) < 26
    assert half.arrivals.jobs + source.account.skipped["not_sampled"] == plain.arrivals.jobs


def test_a_month(statistics_of) -> None:
    """November 1996 by the log's own clocks, which the header of the window still tells."""
    source, month = statistics_of("[{name: window, start: 1996-11-01, end: 1996-12-01}]")
    start = "UnixStartTime: 846802800"  # 1996-11-01T00:00 in Stockholm
    assert start in source.comments
    assert month.arrivals.last_submit_time_seconds < 30 * 86400
    assert [k for k, share in enumerate(month.cycles.month_shares) if share] == [10]
    assert sum(source.account.skipped.values()) + month.arrivals.jobs == source.account.read


@pytest.mark.slow
def test_memory(statistics_of) -> None:
    """A median of 1 GiB a core on nodes of 4 GiB: one in sixteen or so is cut, by its distribution.

    The logarithm of four is 1.386; with a spread of 0.9 that is 1.54 standard deviations, above
    which 6.2 % lie.
    """
    source, _ = statistics_of(
        "[{name: attach, resource: mem, amount: {median: 1GiB, spread: 0.9}}]"
    )
    account = source.account
    assert account.changed["mem_attached"] == account.submitted == 28481
    assert account.clipped["mem_too_large"] / 28481 == pytest.approx(0.062, abs=0.005)
