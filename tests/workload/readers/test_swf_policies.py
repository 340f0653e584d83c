"""The trace source `swf`: what its policies do with records that cannot be used as they are."""

import pytest
from pydantic import ValidationError

from hpcsched.errors import InputError
from hpcsched.system.system import Request
from hpcsched.workload.readers.swf import SwfParams
from tests.workload.readers.swf_files import SYSTEM, read, record, source_of, write


def only(jobs):
    """Return the one job."""
    (traced,) = jobs
    return traced


def error_of(folder, *lines, **params):
    """Return the one finding of the error that reading a log ends with; its file is the log."""
    path = write(folder, lines)
    with pytest.raises(InputError) as caught:
        list(source_of(path, **params).jobs())
    (finding,) = caught.value.findings
    assert finding.place.file == str(path)
    assert str(caught.value).startswith(f"{path}:{finding.place.line}: error: ")
    return finding


def test_a_record(tmp_path):
    """A record becomes a job with the fields of the format, -1 standing for what is not given."""
    line = "7 30 5 60 4 -1 -1 3 100 -1 1 12 -1 14 0 16 -1 -1"
    source, jobs = read(tmp_path, line)
    job, run_time = only(jobs)
    assert run_time == 60
    assert job[:4] == (7, 30, Request(3, (1,)), 100)
    assert (job.user, job.group, job.application, job.queue, job.partition) == (12, None, 14, 0, 16)
    assert source.uniform_request == (1,)


def test_unit(tmp_path):
    """Each requested processor asks for what `unit` says."""
    _, jobs = read(tmp_path, record(1, units=3), unit={"core": 2})
    assert (only(jobs).job.units, only(jobs).job.unit_request) == (3, (2,))


def test_zero_run_time(tmp_path):
    """A job that ran for 0 seconds is skipped, or kept."""
    lines = record(1, run=0), record(2)
    source, jobs = read(tmp_path, *lines)
    assert [traced.job.job_id for traced in jobs] == [2]
    assert source.account.skipped == {"zero_run_time": 1}
    source, jobs = read(tmp_path, *lines, zero_run_time="keep")
    assert [traced.run_time for traced in jobs] == [0, 60]
    assert not source.account.skipped


def test_over_requested_time(tmp_path):
    """A run time over the requested time is cut to it and counted, or kept."""
    lines = record(1, run=100), record(2, run=101)
    source, jobs = read(tmp_path, *lines)
    assert [traced.run_time for traced in jobs] == [100, 100]
    assert source.account.clipped == {"over_requested_time": 1}
    source, jobs = read(tmp_path, *lines, over_requested_time="keep")
    assert [traced.run_time for traced in jobs] == [100, 101]
    assert not source.account.clipped


def test_missing_run_time(tmp_path):
    """A job without a run time is skipped, or an error."""
    lines = record(1), record(2, run=-1)
    source, jobs = read(tmp_path, *lines)
    assert only(jobs).job.job_id == 1
    assert source.account.skipped == {"missing_run_time": 1}
    finding = error_of(tmp_path, *lines, missing_run_time="error")
    assert (finding.rule, finding.place.line) == ("missing-run-time", 2)


@pytest.mark.parametrize("missing", [0, -1])
def test_missing_processors(tmp_path, missing):
    """Allocated processors stand in for requested ones; without them the job is skipped."""
    lines = record(1, units=missing, allocated=3), record(2, units=missing, allocated=-1)
    source, jobs = read(tmp_path, *lines)
    assert (only(jobs).job.job_id, only(jobs).job.units) == (1, 3)
    assert source.account.skipped == {"missing_processors": 1}
    source, jobs = read(tmp_path, *lines, missing_processors="skip")
    assert jobs == []
    assert source.account.skipped == {"missing_processors": 2}
    finding = error_of(tmp_path, *lines, missing_processors="error")
    assert (finding.rule, finding.place.line) == ("missing-processors", 1)


def test_requested_processors_count(tmp_path):
    """Where both are given, requested processors count, and allocated ones do not."""
    _, jobs = read(tmp_path, record(1, units=2, allocated=4))
    assert only(jobs).job.units == 2


@pytest.mark.parametrize("missing", [0, -1])
def test_missing_requested_time(tmp_path, missing):
    """A job without a requested time is an error, skipped, or takes what stands in for it."""
    lines = record(1), record(2, requested=missing, run=70)
    finding = error_of(tmp_path, *lines)
    assert (finding.rule, finding.place.line) == ("missing-requested-time", 2)
    source, jobs = read(tmp_path, *lines, missing_requested_time="skip")
    assert only(jobs).job.job_id == 1
    assert source.account.skipped == {"missing_requested_time": 1}
    for policy, expected in (("run_time", 70), (3600, 3600), ("2h", 7200)):
        _, jobs = read(tmp_path, *lines, missing_requested_time=policy)
        assert [traced.job.requested_time for traced in jobs] == [100, expected]


def test_larger_than_system(tmp_path):
    """A job that does not fit on the idle system is skipped, or an error that says what fits."""
    lines = record(1, units=8), record(2, units=9)
    source, jobs = read(tmp_path, *lines)
    assert only(jobs).job.job_id == 1
    assert source.account.skipped == {"larger_than_system": 1}
    finding = error_of(tmp_path, *lines, larger_than_system="error")
    assert (finding.rule, finding.place.line) == ("larger-than-system", 2)
    assert "9 units" in finding.message
    assert "8 fit" in finding.message


def test_larger_than_system_by_node(tmp_path):
    """What fits is counted node by node: units of two of a node's two cores fit once on each."""
    source, jobs = read(
        tmp_path,
        record(1, units=4), record(2, units=5),
        unit={"core": 2}, larger_than_system="skip",
    )  # fmt: skip
    assert only(jobs).job.job_id == 1
    assert source.account.skipped == {"larger_than_system": 1}


UNSORTED = record(1, submit=10), record(2, submit=5), record(3, submit=10), record(4, submit=7)


def test_unsorted_is_an_error(tmp_path):
    """A record submitted before its predecessor is an error that tells both times."""
    finding = error_of(tmp_path, *UNSORTED)
    assert (finding.rule, finding.place.line) == ("unsorted", 2)
    assert "at least 10" in finding.message
    assert "found 5" in finding.message


def test_unsorted_is_skipped(tmp_path):
    """Records submitted before the last one that was used are skipped; equal times are sorted."""
    source, jobs = read(tmp_path, *UNSORTED, unsorted="skip")
    assert [traced.job.job_id for traced in jobs] == [1, 3]
    assert source.account.skipped == {"unsorted": 2}


def test_unsorted_is_sorted(tmp_path):
    """Records are sorted by submit time, equal times in the order of the log."""
    source, jobs = read(tmp_path, *UNSORTED, unsorted="sort")
    assert [traced.job.job_id for traced in jobs] == [2, 4, 1, 3]
    assert not source.account.skipped


MALFORMED = {
    "too few fields": "2 0 1 2 3",
    "too many fields": record(2, more="9"),
    "a word": record(2, run="abc"),
    "an infinity": record(2, run="inf"),
    "a number with an underscore": record(2, run="6_0"),
    "a number beyond 64 bits": record(2, run=10**25, requested=10**25),
    "no job number": record(-1),
    "no submit time": record(2, submit=-1),
    "a job number seen before": record(1),
    "letters beyond ASCII": record(2, run="шесть"),
}


@pytest.mark.parametrize("line", MALFORMED.values(), ids=MALFORMED)
def test_malformed(tmp_path, line):
    """A line that is no record is an error, or skipped."""
    lines = record(1), line, record(3)
    finding = error_of(tmp_path, *lines)
    assert (finding.rule, finding.place.line) == ("malformed", 2)
    source, jobs = read(tmp_path, *lines, malformed="skip")
    assert [traced.job.job_id for traced in jobs] == [1, 3]
    assert source.account.skipped == {"malformed": 1}


def test_floats_where_nothing_is_read(tmp_path):
    """Fields that mean nothing here, such as the average CPU time, need not be whole numbers."""
    line = "1 0 5 60 2 33.5 -1 2 100 12.25 1 -1 -1 -1 -1 -1 -1 -1"
    _, jobs = read(tmp_path, line)
    assert only(jobs).run_time == 60


REASONS = {
    "malformed": record(1, submit=0, run=-1),
    "unsorted": record(3, submit=5, run=-1, units=-1, requested=-1),
    "missing_run_time": record(4, submit=10, run=-1, units=-1, requested=-1),
    "zero_run_time": record(5, submit=10, run=0, units=-1, requested=-1),
    "missing_processors": record(6, submit=10, units=-1, requested=-1),
    "missing_requested_time": record(7, submit=10, units=99, requested=-1),
    "larger_than_system": record(8, submit=10, units=99),
}


@pytest.mark.parametrize("reason", REASONS)
def test_the_first_reason_counts(tmp_path, reason):
    """Of several reasons to skip a record the first counts, in the order that the source states."""
    skip_all = {"malformed": "skip", "unsorted": "skip", "missing_requested_time": "skip"}
    lines = record(1, submit=10), REASONS[reason]
    source, jobs = read(tmp_path, *lines, **skip_all)
    assert only(jobs).job.job_id == 1
    assert source.account.skipped == {reason: 1}


def test_a_record_that_is_skipped_is_not_clipped(tmp_path):
    """Clipped records are among those submitted."""
    source, _ = read(tmp_path, record(1, run=200, units=99))
    assert source.account.skipped == {"larger_than_system": 1}
    assert not source.account.clipped


def test_first_jobs(tmp_path):
    """`jobs: 2` stops after two jobs, and reads no record beyond them."""
    lines = record(1, run=0), record(2), record(3), record(4), "nonsense"
    source, jobs = read(tmp_path, *lines, jobs=2)
    assert [traced.job.job_id for traced in jobs] == [2, 3]
    assert (source.account.read, source.account.skipped) == (3, {"zero_run_time": 1})


def test_first_jobs_of_a_sorted_log(tmp_path):
    """`jobs: 2` takes the two submitted first, and the account still balances."""
    _, jobs = read(tmp_path, *UNSORTED, unsorted="sort", jobs=2)
    assert [traced.job.job_id for traced in jobs] == [2, 4]


def test_jobs_can_be_read_again(tmp_path):
    """Reading again starts over, with a fresh account."""
    source, first = read(tmp_path, record(1), record(2, run=0), record(3, run=200))
    account = source.account
    assert list(source.jobs()) == first
    assert source.account == account
    assert source.account is not account


@pytest.mark.parametrize(
    "params",
    [
        {"zero_run_time": "drop"},
        {"unsorted": "keep"},
        {"jobs": 0},
        {"jobs": "5"},
        {"missing_requested_time": -1},
        {"missing_requested_time": "soon"},
        {"unit": {"core": -1}},
        {"typo": 1},
    ],
)
def test_unknown_policies_are_refused(params):
    """A policy that does not exist, or a value out of range, is refused before anything is read."""
    with pytest.raises(ValidationError):
        SwfParams(path="log.swf", **params)


def test_unknown_resource_type(tmp_path):
    """A unit that asks for what no node group has is an error that says what there is."""
    path = write(tmp_path, [record(1)])
    with pytest.raises(InputError, match=r"asks for gpu.*there are: core") as caught:
        source_of(path, SYSTEM, unit={"core": 1, "gpu": 1})
    assert caught.value.findings[0].place.file == str(path)


def test_dependencies(tmp_path):
    """The preceding job and the think time are read where that is wanted; unknown ones counted."""

    def after(number, preceding, think_time, **fields):
        return record(number, **fields).removesuffix("-1 -1") + f"{preceding} {think_time}"

    lines = [
        after(1, 9, 30),  # an unknown job
        after(2, 3, 30, run=0),  # is skipped itself
        after(3, 1, 30),
        after(4, 2, 30),  # the other is skipped
        after(5, 6, 30),  # the other comes later
        after(6, 3, -1),
        after(7, -1, 30),
    ]
    source, jobs = read(tmp_path, *lines)
    assert not source.dependencies
    assert {(traced.job.after, traced.job.think_time) for traced in jobs} == {((), 0)}
    assert not source.account.clipped
    source, jobs = read(tmp_path, *lines, dependencies="honour")
    assert source.dependencies
    found = {traced.job.job_id: (traced.job.after, traced.job.think_time) for traced in jobs}
    assert found == {1: ((), 0), 3: ((1,), 30), 4: ((), 0), 5: ((), 0), 6: ((3,), 0), 7: ((), 0)}
    assert source.account.clipped == {"unknown_preceding_job": 3}
    assert list(source.jobs()) == jobs
