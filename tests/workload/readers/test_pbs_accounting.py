"""What the source `pbs-accounting` makes of each kind of record."""

import gzip
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.system.system import NodeGroup, System
from tests.workload.readers.accounting_log_files import (
    GIB,
    amounts,
    jobs_of,
    pbs_record,
    pbs_source,
    read_pbs,
)

WHOLE = {"core": 16, "mem": 32 * GIB}

# The records of a log, each with its fate: the reason for which it is skipped, or the number of its
# job with the job's units and what each of these asks for.
AWKWARD = [
    (pbs_record("1.srv"), (1, 1, WHOLE)),
    ("03/01/2024 10:00:00;Q;2.srv;queue=batch", "record_Q"),
    (pbs_record("2.srv", "S"), "record_S"),
    ("03/01/2024 10:00:00;D;2.srv;requestor=alice@login", "record_D"),
    ("03/01/2024 10:00:00;L;license;floating license hour:3", "record_L"),
    (
        pbs_record("3.srv", Resource_List_select="2:ncpus=8:mpiprocs=8:mem=16gb:ngpus=1"),
        (3, 2, {"core": 8, "mem": 16 * GIB, "gpu": 1}),
    ),
    (
        pbs_record("4.srv", Resource_List_select="1:ncpus=8+1:ncpus=8"),
        (4, 2, {"core": 8}),
    ),
    (pbs_record("5.srv", Resource_List_select="1:ncpus=1+3:ncpus=8"), "unlike_chunks"),
    (
        pbs_record(
            "6.torque",
            Resource_List_select="",
            Resource_List_nodes="2:ppn=8:gpus=1:fast",
            Resource_List_mem="8gb",
        ),
        (6, 2, {"core": 8, "mem": 4 * GIB, "gpu": 1}),
    ),
    (
        pbs_record("7.srv", Resource_List_select="", Resource_List_nodes="node01+node02:ppn=1"),
        (7, 2, {"core": 1}),
    ),
    (
        pbs_record(
            "8.srv", Resource_List_select="", Resource_List_ncpus="24", Resource_List_nodect="2"
        ),
        (8, 2, {"core": 12}),
    ),
    (pbs_record("9[3].srv"), (4000000009, 1, WHOLE)),
    (pbs_record("9[].srv"), "whole_array"),
    (pbs_record("10-2.srv"), (3000000010, 1, WHOLE)),
    (pbs_record("11.srv", start="0"), "never_started"),
    (pbs_record("12.srv", end="1709280300"), "zero_run_time"),
    (pbs_record("13.srv", Resource_List_walltime=""), "missing_requested_time"),
    (pbs_record("1.srv", end="1709283901"), "duplicate"),
    (pbs_record("14.srv", Resource_List_select="64:ncpus=16"), "larger_than_system"),
    (pbs_record("15.srv", end=""), "malformed"),
]


def test_the_fate_of_each_record(tmp_path: Path) -> None:
    """Twenty awkward records, each read by itself and all together: a job, or skipped."""
    assert len(AWKWARD) == 20
    policies = {"malformed": "skip", "missing_requested_time": "skip", "duplicate": "skip"}
    for record, fate in AWKWARD:
        before = pbs_record("1.srv") if fate == "duplicate" else pbs_record("99.srv")
        source, jobs = read_pbs(tmp_path, before, record, **policies)
        if isinstance(fate, str):
            assert source.account.skipped == {fate: 1}, record
        else:
            assert source.account.skipped == {}
            assert (jobs[1].job.job_id, *amounts(jobs[1])) == fate
    source, jobs = read_pbs(tmp_path, *(record for record, _ in AWKWARD), **policies)
    fates = [fate for _, fate in AWKWARD]
    reasons = {fate for fate in fates if isinstance(fate, str)}
    assert source.account.read == 20
    assert source.account.skipped == {reason: fates.count(reason) for reason in reasons}
    found = [(traced.job.job_id, *amounts(traced)) for traced in jobs]
    assert found == [fate for fate in fates if not isinstance(fate, str)]


def test_a_job(tmp_path: Path) -> None:
    """Times, names and numbers of a record; words without `=` belong to the value before."""
    source, (first, second) = read_pbs(
        tmp_path,
        pbs_record("7.srv", jobname='"my first job"', Resource_List_place="scatter:excl"),
        pbs_record("8.srv", jobname="my job", group="", account="chem", queue="long"),
    )
    job = first.job
    assert (job.submit_time, job.requested_time, first.run_time) == (1709280000, 7200, 3600)
    assert (job.user, job.group, job.queue, job.partition) == (1, 1, 1, None)
    assert (job.name, job.queue_name, job.exclusive) == ("my first job", "batch", True)
    assert not job.one_unit_per_node  # a single unit is on a node of its own anyway
    job = second.job
    assert (job.user, job.group, job.queue) == (1, 2, 2)
    assert (job.name, job.queue_name, job.exclusive) == ("my job", "long", False)
    assert source.comments == [
        *("User: 1 alice", "Group: 1 phys", "Group: 2 chem", "Queue: 1 batch", "Queue: 2 long"),
    ]


@pytest.mark.parametrize(
    ("place", "scatter"), [("scatter:excl", True), ("vscatter", True), ("free", False)]
)
def test_chunks_on_hosts_of_their_own(place: str, scatter: bool, tmp_path: Path) -> None:
    """They are units on nodes of their own, and need as many nodes; other units are not."""
    said = {"Resource_List_select": "2:ncpus=4", "Resource_List_place": place}
    _, (traced,) = read_pbs(tmp_path, pbs_record("1", **said))
    assert (traced.job.units, traced.job.one_unit_per_node) == (2, scatter)
    _, (traced,) = read_pbs(tmp_path, pbs_record("1", **said), mapping="one_each")
    assert (traced.job.units, traced.job.one_unit_per_node) == (8, False)
    one_node = System((NodeGroup("n", 1, {"core": 16, "mem": 64 * GIB}),))
    source, jobs = read_pbs(tmp_path, pbs_record("1", **said), system=one_node)
    assert len(jobs) == (0 if scatter else 1)
    assert source.account.skipped == ({"larger_than_system": 1} if scatter else {})


def test_a_day_that_is_in_no_order(tmp_path: Path) -> None:
    """Records are in order of ends, jobs come in order of submission; `qtime` will do."""
    records = [
        pbs_record("2.srv", ctime="1709280200"),
        pbs_record("1.srv", ctime="", qtime="1709280100"),
    ]
    _, jobs = read_pbs(tmp_path, *records)
    assert [(t.job.job_id, t.job.submit_time) for t in jobs] == [(1, 1709280100), (2, 1709280200)]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("02:00:00", 7200), ("90", 90), ("1:02:03:04", 93784), ("30:00", 1800), ("00:01:00.5", 61)],
)
def test_walltimes(text: str, seconds: int, tmp_path: Path) -> None:
    """Hours, minutes and seconds; days before them; or seconds alone."""
    _, (traced,) = read_pbs(tmp_path, pbs_record("1", Resource_List_walltime=text))
    assert traced.job.requested_time == seconds


@pytest.mark.parametrize(
    ("text", "size"),
    [("32gb", 32 * GIB), ("4000KB", 4096000), ("512", 512), ("1mw", 8 * 2**20), ("1t", 2**40)],
)
def test_sizes(text: str, size: int, tmp_path: Path) -> None:
    """Powers of 1024, bytes or words of 8 bytes."""
    system = System((NodeGroup("n", 1, {"core": 1, "mem": 2**41}),))
    record = pbs_record("1", Resource_List_select=f"mem={text}")
    _, (traced,) = read_pbs(tmp_path, record, system=system)
    assert amounts(traced, system) == (1, {"core": 1, "mem": size})


def test_the_largest_chunk(tmp_path: Path) -> None:
    """Unlike chunks can all be as large as the largest, in each resource; that is counted."""
    record = pbs_record("1", Resource_List_select="1:ncpus=1:mem=8gb+2:ncpus=8:mem=2gb")
    source, (traced,) = read_pbs(tmp_path, record, unlike_chunks="largest")
    assert amounts(traced) == (3, {"core": 8, "mem": 8 * GIB})
    assert source.account.clipped == {"unlike_chunks": 1}


@pytest.mark.parametrize(
    ("mapping", "found"),
    [
        ("as_requested", (4, {"core": 8, "mem": 16 * GIB})),
        ("one_each", (32, {"core": 1, "mem": 2 * GIB})),
    ],
)
def test_mappings(mapping: str, found: tuple[int, dict[str, int]], tmp_path: Path) -> None:
    """Units are chunks, or parts of all that the chunks are together."""
    record = pbs_record("1", Resource_List_select="4:ncpus=8:mem=16gb")
    _, (traced,) = read_pbs(tmp_path, record, mapping=mapping)
    assert amounts(traced) == found


def test_what_a_resource_is_called(tmp_path: Path) -> None:
    """A scenario names resources of a site, and says which do not count."""
    system = System((NodeGroup("n", 1, {"core": 8, "fpga": 2}),))
    record = pbs_record("1", Resource_List_select="ncpus=8:nfpgas=2:ngpus=1:mem=1gb")
    _, (traced,) = read_pbs(
        tmp_path,
        record,
        system=system,
        resource_types={"nfpgas": "fpga", "ngpus": None, "mem": None},
    )
    assert amounts(traced, system) == (1, {"core": 8, "fpga": 2})


def test_a_folder_of_days(tmp_path: Path) -> None:
    """Days are read in the order of their names, packed or not; a message names the file."""
    folder = tmp_path / "accounting"
    folder.mkdir()
    (folder / "20240302.gz").write_bytes(gzip.compress(f"{pbs_record('2')}\n".encode()))
    (folder / "20240301").write_text(f"{pbs_record('1')}\n")
    (folder / "20240229").write_text("")
    source = pbs_source(folder)
    assert [traced.job.job_id for traced in jobs_of(source)] == [1, 2]
    assert [file.name for file in source.files] == ["20240229", "20240301", "20240302.gz"]
    assert source.fraction_read == 1
    (folder / "20240303").write_text(f"{pbs_record('3')}\nnonsense\n")
    with pytest.raises(InputError, match=r"accounting/20240303:2: error: expected a record"):
        jobs_of(pbs_source(folder))


def test_a_folder_without_files(tmp_path: Path) -> None:
    """A folder that is empty is no log."""
    (tmp_path / "accounting").mkdir()
    with pytest.raises(InputError, match="the folder holds no file"):
        pbs_source(tmp_path / "accounting")


@pytest.mark.parametrize("job_id", ["7.srv", "7[3].srv"])
@pytest.mark.parametrize(
    ("attributes", "policies", "reason"),
    [
        ({"start": "1709285000"}, {}, "zero_run_time"),
        ({"start": "1709285000"}, {"zero_run_time": "keep"}, "duplicate"),
        ({"start": "0"}, {}, "never_started"),
        ({"Resource_List_select": "99:ncpus=16"}, {}, "larger_than_system"),
        (
            {"Resource_List_walltime": ""},
            {"missing_requested_time": "skip"},
            "missing_requested_time",
        ),
        ({"Resource_List_select": "1:ncpus=1+1:ncpus=2"}, {}, "unlike_chunks"),
        ({"Resource_List_select": "1:ncpus=x"}, {"malformed": "skip"}, "malformed"),
    ],
)
def test_a_rerun_job_whose_last_record_is_no_job(
    tmp_path: Path, job_id: str, attributes: dict[str, str], policies: dict[str, str], reason: str
) -> None:
    """It ran for an hour before, and that record is the last that ran."""
    last = pbs_record(job_id, **{"end": "1709285000", **attributes})
    records = [pbs_record(job_id), last, pbs_record("8.srv")]
    source, jobs = read_pbs(tmp_path, *records, duplicate="last", **policies)
    assert [traced.run_time for traced in jobs] == [3600, 3600]
    assert source.account.skipped == {reason: 1}
