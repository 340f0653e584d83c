"""The trace source `swf`: files of all kinds, whole and damaged, small and large."""

import random
import tempfile
import tracemalloc
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.errors import InputError
from hpcsched.workload.readers import swf
from tests.builders import alike
from tests.strategies import tries
from tests.workload.readers.swf_files import (
    SYSTEM,
    check_account,
    read,
    record,
    source_of,
    write,
)

HEADER = ("; Version: 2.2", ";Computer: Toy", "; Note: first line", ";")
TYPED = alike(4, core=4, mem=100, gpu=1)
LENIENT = {
    "malformed": "skip",
    "unsorted": "skip",
    "missing_requested_time": "skip",
    "fractional_seconds": "skip",
}


def damage_of(path):
    """Return the finding of the error that reading a damaged file ends with."""
    with pytest.raises(InputError) as caught:
        list(source_of(path, **LENIENT).jobs())
    (finding,) = caught.value.findings
    assert finding.place.file == str(path)
    return finding


def test_header_comments_are_kept(tmp_path):
    """Comments before the first record are kept in order; later ones and blank lines are not."""
    source, jobs = read(tmp_path, *HEADER, "", record(1), "; later", "   ", record(2))
    assert list(source.comments) == ["Version: 2.2", "Computer: Toy", "Note: first line", ""]
    assert source.account.read == len(jobs) == 2


def test_line_numbers_count_comments_and_blank_lines(tmp_path):
    """An error names the line of the file, not the number of the record."""
    path = write(tmp_path, [*HEADER, "", record(1), "; later", "nonsense"])
    with pytest.raises(InputError) as caught:
        list(source_of(path).jobs())
    assert caught.value.findings[0].place.line == 8


def test_windows_line_ends_and_tabs(tmp_path):
    """Line ends of other systems and any white space between fields are fine."""
    path = tmp_path / "log.swf"
    path.write_bytes(f"; Note: x\r\n{record(1).replace(' ', chr(9))}\r\n{record(2)}".encode())
    source = source_of(path)
    assert [traced.job.job_id for traced in source.jobs()] == [1, 2]
    assert source.comments == ["Note: x"]


def test_gzip(tmp_path):
    """A packed log reads as the plain one does, whatever it is called."""
    lines = [*HEADER, record(1), record(2)]
    plain = source_of(write(tmp_path, lines))
    packed = source_of(write(tmp_path, lines, packed=True))
    (tmp_path / "other.swf").write_bytes((tmp_path / "log.swf.gz").read_bytes())
    renamed = source_of(tmp_path / "other.swf")
    expected = list(plain.jobs())
    for source in (packed, renamed):
        assert list(source.jobs()) == expected
        assert source.comments == plain.comments
        assert source.fraction_read == 1


def test_truncated_gzip(tmp_path):
    """A packed log that breaks off is an error that names a line before it."""
    random.seed(1)
    lines = [record(n, submit=n, run=random.randrange(1, 10**9)) for n in range(3000)]
    whole = write(tmp_path, lines, packed=True).read_bytes()
    path = tmp_path / "half.swf.gz"
    path.write_bytes(whole[: len(whole) // 2])
    finding = damage_of(path)
    assert finding.rule == "damaged-trace"
    assert finding.place.line < 3000


def test_gzip_with_a_damaged_middle(tmp_path):
    """A packed log with bytes changed is an error, not a shorter trace."""
    lines = [record(n, submit=n) for n in range(3000)]
    data = bytearray(write(tmp_path, lines, packed=True).read_bytes())
    middle = len(data) // 2
    data[middle : middle + 50] = bytes(50)
    path = tmp_path / "damaged.swf.gz"
    path.write_bytes(bytes(data))
    assert damage_of(path).rule == "damaged-trace"


@pytest.mark.parametrize("data", [b"\x1f\x8b", b"\x1f\x8bnonsense and more of it"])
def test_gzip_in_name_only(tmp_path, data):
    """A file that begins like a packed one and is none is an error."""
    path = tmp_path / "log.swf.gz"
    path.write_bytes(data)
    assert damage_of(path).rule == "damaged-trace"


def test_binary_garbage(tmp_path):
    """A file that is no text is refused from its first line on."""
    path = tmp_path / "log.swf"
    path.write_bytes(random.Random(2).randbytes(5000).replace(b";", b"x"))
    with pytest.raises(InputError) as caught:
        list(source_of(path).jobs())
    assert caught.value.findings[0].rule == "malformed"
    assert caught.value.findings[0].place.line == 1
    source = source_of(path, **LENIENT)
    assert list(source.jobs()) == []
    check_account(source, [])


def test_missing_file(tmp_path):
    """A file that is not there is an error that says so."""
    with pytest.raises(InputError, match="No such file") as caught:
        source_of(tmp_path / "nothing.swf")
    assert caught.value.findings[0].rule == "unreadable-trace"
    assert caught.value.findings[0].place.file == str(tmp_path / "nothing.swf")


def test_folder_instead_of_a_file(tmp_path):
    """A folder cannot be read."""
    with pytest.raises(InputError) as caught:
        source_of(tmp_path)
    assert caught.value.findings[0].rule == "unreadable-trace"


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("lines", [(), HEADER])
def test_no_records(tmp_path, packed, lines):
    """A file without records gives no jobs and an account of nothing."""
    source = source_of(write(tmp_path, lines, packed))
    assert list(source.jobs()) == []
    check_account(source, [])
    assert source.account.read == 0
    assert len(source.comments) == len(lines)


def test_account_while_reading(tmp_path):
    """The account holds for what has been read so far."""
    lines = [record(n, submit=n, run=n % 3) for n in range(30)]
    source = source_of(write(tmp_path, lines))
    for number, _ in enumerate(source.jobs(), 1):
        assert source.account.submitted == number
        assert source.account.read == number + source.account.skipped["zero_run_time"]


UNIT_RESOURCES = "; UnitResources: core mem gpu"


def test_resources_in_records(tmp_path):
    """With the extension each record says what its units ask for; -1 asks for nothing."""
    source, jobs = read(
        tmp_path,
        UNIT_RESOURCES, record(1, more="2 30 0"), record(2, more="1 -1 1"),
        system=TYPED,
    )  # fmt: skip
    assert [traced.job.unit_request for traced in jobs] == [(2, 30, 0), (1, 0, 1)]
    assert source.uniform_request is None


def test_resources_in_another_order(tmp_path):
    """The extension names the types in the order of the fields, which need not be the system's."""
    _, jobs = read(tmp_path, "; UnitResources: gpu core", record(1, more="1 3"), system=TYPED)
    assert [traced.job.unit_request for traced in jobs] == [(3, 0, 1)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (record(2), "malformed"),
        (record(2, more="1 2"), "malformed"),
        (record(2, more="1 2 x"), "malformed"),
        (record(2, more="0 -1 0"), "malformed"),
        (record(2, more="5 1 0"), "larger_than_system"),
        (record(2, more="1 1 2"), "larger_than_system"),
        (record(2, more="1 60 0", units=5), "larger_than_system"),
    ],
)
def test_resources_that_cannot_be_used(tmp_path, line, reason):
    """Too few amounts, no amounts at all, or more than a node or the system has."""
    lines = UNIT_RESOURCES, record(1, more="1 60 1", units=4), line
    source, jobs = read(tmp_path, *lines, system=TYPED, **LENIENT)
    assert [traced.job.job_id for traced in jobs] == [1]
    assert source.account.skipped == {reason: 1}
    with pytest.raises(InputError) as caught:
        list(source_of(write(tmp_path, lines), TYPED, larger_than_system="error").jobs())
    assert caught.value.findings[0].rule == reason.replace("_", "-")
    assert caught.value.findings[0].place.line == 3


def test_resources_that_the_system_does_not_have(tmp_path):
    """A type named by the trace that no node group has is an error."""
    path = write(tmp_path, [UNIT_RESOURCES, record(1, more="1 1 1")])
    with pytest.raises(InputError, match="mem, gpu") as caught:
        source_of(path, SYSTEM)
    assert caught.value.findings[0].place.file == str(path)


def test_a_given_unit_comes_before_the_resources_in_records(tmp_path):
    """With `unit` given, what the records say of resources is not used."""
    source, jobs = read(
        tmp_path,
        UNIT_RESOURCES, record(1, more="2 30 1"),
        system=TYPED, unit={"core": 1, "mem": 5},
    )  # fmt: skip
    assert [traced.job.unit_request for traced in jobs] == [(1, 5, 0)]
    assert source.uniform_request == (1, 5, 0)


FIELD = st.one_of(
    st.integers(-1, 12).map(str),
    st.sampled_from(["", "x", "1.5", "-", "1e3", "99999999999999999999", ";", "\x00", "é"]),
)
LINE = st.one_of(
    st.lists(st.integers(-1, 9).map(str), min_size=18, max_size=18),
    st.lists(FIELD, min_size=17, max_size=19),
).map(" ".join)
POLICIES = st.fixed_dictionaries(
    {
        "zero_run_time": st.sampled_from(["skip", "keep"]),
        "over_requested_time": st.sampled_from(["clip", "keep"]),
        "missing_run_time": st.just("skip"),
        "missing_processors": st.sampled_from(["allocated", "skip"]),
        "missing_requested_time": st.sampled_from(["run_time", "skip", 5]),
        "larger_than_system": st.just("skip"),
        "unsorted": st.sampled_from(["skip", "sort"]),
        "malformed": st.just("skip"),
        "fractional_seconds": st.sampled_from(["skip", "outward"]),
    }
)


@tries(150)
@given(lines=st.lists(LINE, max_size=12), policies=POLICIES, packed=st.booleans())
def test_accounts_balance(lines, policies, packed):
    """However damaged the lines, each record counts once, and only jobs that can run come out."""
    with tempfile.TemporaryDirectory() as folder:
        source = source_of(write(Path(folder), lines, packed), **policies)
        jobs = list(source.jobs())
    check_account(source, jobs)
    records = [line for line in lines if line.strip() and not line.startswith(";")]
    assert source.account.read == len(records)
    assert set(source.account.skipped) <= set(policies)
    submit_times = [traced.job.submit_time for traced in jobs]
    assert submit_times == sorted(submit_times)
    assert len({traced.job.job_id for traced in jobs}) == len(jobs)
    for job, run_time in jobs:
        assert job.job_id >= 0
        assert job.submit_time >= 0
        assert 1 <= job.units <= 8
        assert run_time >= (policies["zero_run_time"] == "skip")
        assert job.requested_time >= (policies["missing_requested_time"] != "run_time")


@tries(100)
@given(data=st.data())
def test_accounts_balance_after_random_damage(data):
    """Bytes changed anywhere in a log cost records, but no record goes unaccounted for."""
    lines = [record(n, submit=n) for n in range(8)]
    text = bytearray("\n".join(lines).encode())
    for _ in range(data.draw(st.integers(1, 6))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.swf"
        path.write_bytes(bytes(text))
        source = source_of(path, **LENIENT)
        jobs = list(source.jobs())
    check_account(source, jobs)


@mock.patch.object(swf, "BLOCK", 2**13)
def peak_of_streaming(folder, count):
    """Return the most memory in use while a log of so many records is streamed, in bytes."""
    lines = (record(n, submit=7 * n, run=1 + n % 90, units=1 + n % 8) for n in range(count))
    path = write(folder, lines)
    source = source_of(path)
    tracemalloc.start()
    try:
        assert sum(1 for _ in source.jobs()) == count
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_trace(tmp_path):
    """Ten times as many records take no more memory to stream."""
    small, large = (peak_of_streaming(tmp_path, count) for count in (2_000, 20_000))
    assert large < 1.3 * small + 50_000
