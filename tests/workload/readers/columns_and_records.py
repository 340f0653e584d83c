"""Checks that a log read as columns gives the jobs, the account and the error of its records."""

from collections.abc import Iterator

from hpcsched.errors import InputError
from hpcsched.system.system import shape_key
from hpcsched.workload.job import TracedJob
from hpcsched.workload.job_batches import (
    JobColumns,
    RequestNumbers,
    columns_of,
    joined_columns,
    records_of,
)
from hpcsched.workload.readers.swf import LineSource
from tests.workload.readers.swf_records import SwfRecords


def columns(source: LineSource) -> tuple[JobColumns | None, object, list[str]]:
    """Return the jobs of a log, read as columns, with its account and the error, if any."""
    return _read(source, source.job_columns(RequestNumbers()))


def records(source: SwfRecords) -> tuple[list[TracedJob], object, list[str]]:
    """Return the jobs of a log, read one by one, with its account and the error, if any."""
    jobs: list[TracedJob] = []
    error = []
    try:
        jobs.extend(source.jobs())
    except InputError as fault:
        error = [str(fault)]
    return jobs, source.account, error


def _read(
    source: LineSource, batches: Iterator[JobColumns]
) -> tuple[JobColumns | None, object, list[str]]:
    read: list[JobColumns] = []
    error = []
    try:
        read.extend(batches)
    except InputError as fault:
        error = [str(fault)]
    assert all(len(batch.job_id) for batch in read)
    return joined_columns(read) if read else None, source.account, error


def check_alike(source: LineSource, other: SwfRecords) -> LineSource:
    """Check that a source finds in a log what a reader of its records does; return the source."""
    found, account, error = columns(source)
    jobs, expected_account, expected_error = records(other)
    assert error == expected_error
    assert account == expected_account
    assert source.comments == other.comments
    if found is None:
        assert not jobs
        return source
    expected = joined_columns(list(columns_of(jobs, RequestNumbers())))
    for name, ours, theirs in zip(JobColumns._fields[:6], found, expected, strict=False):
        assert ours.dtype == theirs.dtype, name
        assert ours.tolist() == theirs.tolist(), name
    assert found.details.equals(expected.details)
    assert list(map(shape_key, found.requests)) == list(map(shape_key, expected.requests))
    assert list(records_of([found])) == jobs
    return source
