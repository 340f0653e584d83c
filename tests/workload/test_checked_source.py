"""Sources of third parties: their jobs are checked, and all else is passed on."""

from pathlib import Path

import pytest

from hpcsched.errors import PluginError
from hpcsched.plugin_faults import PluginOrigin, remember
from hpcsched.system.system import NodeGroup, Request, System
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.job_batches import GivesColumns
from hpcsched.workload.trace_source import (
    CheckedColumnSource,
    TraceAccount,
    TraceAnswer,
    answer_again,
    answers_of,
    checked_source,
    has_dependencies,
    job_fault,
    recorded_waits,
)

SYSTEM = System((NodeGroup("n", 4, {"core": 2, "mem": 8}),))
JOB = Job(3, 5, Request(2, (1, 0)), 60)


class Source:
    """A source of given records."""

    uniform_request = (1, 0)
    fraction_read = 0.5
    comments = ("; a log",)
    files = (Path("a.log"),)
    dependencies = True

    def __init__(self, *records: object) -> None:
        self.records = records
        self.answers = [TraceAnswer("a program", b"1")]
        self.account = TraceAccount(read=1, submitted=1)

    def jobs(self):
        """Yield the records."""
        yield from self.records

    def keep_waits(self):
        """Return the waits."""
        return {3: 4}

    def read_answers(self):
        """Return an answer."""
        return self.answers

    def take_answers(self, answers):
        """Take the answers of an earlier run."""
        self.answers = answers


class Columns(Source):
    """A source that yields columns as well."""

    def job_columns(self, numbers):
        """Yield nothing."""
        return iter(())


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        (TracedJob(JOB, 9), None),
        ((JOB, 9), "expected a TracedJob with a Job, found"),
        (TracedJob(JOB._replace(request=2), 9), "job 3: expected a Request, found 2"),
        (TracedJob(JOB, 9.0), "job 3: expected a whole run_time of at least 0, found 9.0"),
        (TracedJob(JOB, True), "job 3: expected a whole run_time of at least 0, found True"),
        (TracedJob(JOB._replace(requested_time=0), 9), "job 3: expected a whole requested_time of"),
        (TracedJob(JOB._replace(request=Request(1, (1, -1))), 9), "whole unit_request of at least"),
        (TracedJob(JOB._replace(submit_time=3), 9), "found job 3 at 3 after one at 4"),
    ],
)
def test_faults(record: object, fault: str | None) -> None:
    """A record is refused for one reason, after a job at second 4."""
    found = job_fault(record, 4)
    assert found is None if fault is None else fault in str(found)


def test_passed_on() -> None:
    """The source is what it was."""
    source = Source(TracedJob(JOB, 9))
    checked = checked_source(source, SYSTEM)
    assert list(checked.jobs()) == [(JOB, 9)]
    assert checked.account is source.account
    assert (checked.comments, checked.files) == (source.comments, source.files)
    assert (checked.uniform_request, checked.fraction_read) == ((1, 0), 0.5)
    assert has_dependencies(checked)
    assert recorded_waits(checked) == {3: 4}
    assert answers_of(checked) == source.read_answers()
    answer_again(checked, [TraceAnswer("a program", b"2")])
    assert source.answers == [TraceAnswer("a program", b"2")]
    answer_again(checked, [])
    assert answers_of(checked) == [TraceAnswer("a program", b"2")]
    assert not isinstance(checked, GivesColumns)


def test_columns() -> None:
    """A source of columns stays one."""
    checked = checked_source(Columns(), SYSTEM)
    assert isinstance(checked, CheckedColumnSource)
    assert isinstance(checked, GivesColumns)
    assert list(checked.job_columns(None)) == []


class Opened(Source):
    """A source that has a file open while its records are read."""

    is_open = False

    def jobs(self):
        """Yield the records, with the file open."""
        self.is_open = True
        try:
            yield from self.records
        finally:
            self.is_open = False


def test_a_bad_record_closes_the_file() -> None:
    """It is closed while the error is still held."""
    source = Opened(TracedJob(JOB, 9), 7, TracedJob(JOB, 9))
    jobs = checked_source(source, SYSTEM).jobs()
    next(jobs)
    assert source.is_open
    with pytest.raises(PluginError) as caught:
        next(jobs)
    assert not source.is_open
    assert caught.traceback


def test_readers_that_stop_close_the_file() -> None:
    """Also when no more jobs are wanted, and at the end of the trace."""
    source = Opened(TracedJob(JOB, 9))
    jobs = checked_source(source, SYSTEM).jobs()
    next(jobs)
    assert source.is_open
    jobs.close()
    assert not source.is_open
    assert len(list(checked_source(source, SYSTEM).jobs())) == 1
    assert not source.is_open


def test_a_plain_iterator_has_nothing_to_close() -> None:
    """A source may give one."""
    source = Source()
    source.jobs = lambda: iter([7])
    with pytest.raises(PluginError, match="expected a TracedJob"):
        next(checked_source(source, SYSTEM).jobs())


def test_named() -> None:
    """The plugin is named."""
    source = Source(7)
    remember(source, PluginOrigin("trace_source", "mine", "acme", "2.0"))
    with pytest.raises(PluginError, match=r"^trace source mine \(acme 2.0\): expected a TracedJob"):
        list(checked_source(source, SYSTEM).jobs())
