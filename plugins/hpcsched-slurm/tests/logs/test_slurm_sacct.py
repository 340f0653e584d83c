"""What the source `slurm-sacct` makes of each kind of record."""

import gzip
import json
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hpcsched.cli import app
from hpcsched.errors import InputError
from hpcsched.system.mig import MIG_PROFILES
from hpcsched.system.system import Devices, NodeGroup, System
from hpcsched.workload.trace_calendar import calendar_of
from tests.workload.readers.accounting_log_files import (
    AWKWARD_ROWS,
    GIB,
    HEADER,
    SYSTEM,
    amounts,
    jobs_of,
    read_sacct,
    sacct_row,
    sacct_source,
)

DAY = 86_400

# The rows of a dump, each with its fate: the reason for which it is skipped, or the number of its
# job with the job's units and what each of these asks for.


def test_the_fate_of_each_record(tmp_path: Path) -> None:
    """Thirty awkward records, read alone and together: a job, or skipped for a reason."""
    assert len(AWKWARD_ROWS) == 30
    policies = {"malformed": "skip", "missing_requested_time": "skip", "duplicate": "skip"}
    expected = {}
    for row, fate in AWKWARD_ROWS:
        source, jobs = read_sacct(tmp_path, sacct_row("100"), row, **policies)
        if fate == "duplicate" or row == AWKWARD_ROWS[0][0]:
            assert source.account.skipped == {"duplicate": 1}
        elif isinstance(fate, str):
            assert source.account.skipped == {fate: 1}, row
        else:
            assert source.account.skipped == {}
            assert (jobs[1].job.job_id, *amounts(jobs[1])) == fate
        expected[row] = fate
    source, jobs = read_sacct(tmp_path, *expected, **policies)
    fates = list(expected.values())
    reasons = {fate for fate in fates if isinstance(fate, str)}
    assert source.account.read == 30
    assert source.account.skipped == {reason: fates.count(reason) for reason in reasons}
    found = [(traced.job.job_id, *amounts(traced)) for traced in jobs]
    assert found == [fate for fate in fates if not isinstance(fate, str)]
    assert source.account.clipped == {"uneven_nodes": 1}


def test_a_job(tmp_path: Path) -> None:
    """Times, names and numbers of a record."""
    source, (first, second) = read_sacct(
        tmp_path,
        sacct_row("7", Timelimit="1-02:03:04", JobName="días"),
        sacct_row("8", User="bob", Partition="gpu", QOS="high", Account=""),
    )
    assert first.run_time == 3600
    job = first.job
    assert job.submit_time == 1709283600  # 10:00 in Prague is 9:00 UTC
    assert job.requested_time == DAY + 2 * 3600 + 3 * 60 + 4
    assert (job.user, job.group, job.queue, job.partition) == (1, 1, 1, 1)
    assert (job.name, job.queue_name, job.partition_name) == ("días", "normal", "cpu")
    job = second.job
    assert (job.user, job.group, job.queue, job.partition) == (2, None, 2, 2)
    assert (job.queue_name, job.partition_name) == ("high", "gpu")
    assert source.comments == [
        "TimeZoneString: Europe/Prague",
        *("User: 1 alice", "User: 2 bob", "Group: 1 phys"),
        *("Queue: 1 normal", "Queue: 2 high", "Partition: 1 cpu", "Partition: 2 gpu"),
    ]
    assert calendar_of(source.comments, first.job.submit_time).place(job.submit_time).hour == 10
    assert source.uniform_request is None


def test_columns_in_any_order(tmp_path: Path) -> None:
    """Order does not matter, nor columns that are not known, nor the `|` at the end of lines."""
    header = "End|Flags|NCPUS|Start|JobID|Submit|Node|NNodes|TimelimitRaw|"
    row = "1709287500|x|8|1709283900|5|1709283600||2|120|"
    _, (traced,) = read_sacct(tmp_path, row, header=header, time_zone=None)
    assert amounts(traced) == (2, {"core": 4})
    assert (traced.job.submit_time, traced.run_time) == (1709283600, 3600)
    assert traced.job.requested_time == 7200


@pytest.mark.parametrize(
    ("kind", "found"),
    [("allocated", {"core": 16, "mem": 64 * GIB}), ("requested", {"core": 3, "mem": 4 * GIB})],
)
def test_allocated_or_requested(kind: str, found: dict[str, int], tmp_path: Path) -> None:
    """A job on a whole node may have asked for less; the scenario says which counts."""
    header = "JobID|Submit|Start|End|Timelimit|AllocTRES|ReqTRES"
    row = "1|100|200|300|10:00|cpu=16,mem=64G,node=1|billing=3,cpu=3,mem=4G,node=1"
    _, (traced,) = read_sacct(tmp_path, row, header=header, amounts=kind)
    assert amounts(traced) == (1, found)


@pytest.mark.parametrize(
    ("mapping", "row", "found"),
    [
        (
            "one_each",
            {"NNodes": "2", "NCPUS": "32", "ReqMem": "32G"},
            (32, {"core": 1, "mem": GIB}),
        ),
        (
            "one_each",
            {"NCPUS": "8", "ReqMem": "", "AllocTRES": "gres/gpu=2"},
            (2, {"core": 4, "gpu": 1}),
        ),
    ],
)
def test_mappings(
    mapping: str, row: dict[str, str], found: tuple[int, dict[str, int]], tmp_path: Path
) -> None:
    """Units without regard to the nodes that a job had."""
    _, (traced,) = read_sacct(tmp_path, sacct_row("1", **row), mapping=mapping)
    assert amounts(traced) == found


@pytest.mark.parametrize(
    ("policy", "found"),
    [
        ("spread", [(10, {"core": 1, "mem": GIB})]),
        ("up", [(3, {"core": 4, "mem": -(-10 * GIB // 3)})]),
        ("skip", []),
    ],
)
def test_uneven_nodes(policy: str, found: list[tuple[int, dict[str, int]]], tmp_path: Path) -> None:
    """Ten cores on three nodes are no equal units of three nodes; what is done is counted."""
    row = sacct_row("1", NNodes="3", NCPUS="10", ReqMem="10G")
    source, jobs = read_sacct(tmp_path, row, uneven_nodes=policy)
    assert [amounts(traced) for traced in jobs] == found
    counted = source.account.skipped if policy == "skip" else source.account.clipped
    assert counted == {"uneven_nodes": 1}


def test_units_on_nodes_of_their_own(tmp_path: Path) -> None:
    """Where a unit stands for a node, a job of several has as many nodes, or does not fit."""
    one, two, uneven = (
        sacct_row("1", NCPUS="4"),
        sacct_row("2", NNodes="2", NCPUS="8"),
        sacct_row("3", NNodes="3", NCPUS="10", ReqMem=""),
    )
    _, jobs = read_sacct(tmp_path, one, two, uneven)
    assert [(job.units, job.one_unit_per_node) for job, _ in jobs] == [
        (1, False),
        (2, True),
        (10, False),
    ]
    _, jobs = read_sacct(tmp_path, one, two, mapping="one_each")
    assert not any(job.one_unit_per_node for job, _ in jobs)
    seven = sacct_row("4", NNodes="7", NCPUS="7", ReqMem="")  # on six nodes of 16 cores
    source, jobs = read_sacct(tmp_path, seven)
    assert (jobs, source.account.skipped) == ([], {"larger_than_system": 1})


def test_a_requeued_job_can_be_kept(tmp_path: Path) -> None:
    """Every record of it is a job then, with a number that no other has."""
    rows = [sacct_row("5"), sacct_row("5", Submit="2024-03-01T10:01:00"), sacct_row("5_1")]
    _, jobs = read_sacct(tmp_path, *rows, sacct_row("5_1"), duplicate="keep")
    assert {traced.job.job_id for traced in jobs} == {
        *(5, 2000000005, 8000000000000001, 8000000000000002),
    }


def test_the_last_record_of_a_requeued_job(tmp_path: Path) -> None:
    """Job 5 ran 20 min, was requeued, ran 10 min, and was cancelled while it waited once more."""
    first = sacct_row("5", End="2024-03-01T10:30:00", State="NODE_FAIL")
    again = sacct_row(
        "5",
        Submit="2024-03-01T10:30:00",
        Start="2024-03-01T11:00:00",
        End="2024-03-01T11:10:00",
        State="REQUEUED",
    )
    never = sacct_row("5", Submit="2024-03-01T11:10:00", Start="Unknown", End="2024-03-01T12:00:00")
    source, jobs = read_sacct(tmp_path, first, sacct_row("6"), again, never, duplicate="last")
    by_number = {traced.job.job_id: traced.run_time for traced in jobs}
    assert by_number == {5: 600, 6: 3600}
    assert source.account.skipped == {"duplicate": 1, "never_started": 1}
    # A second reading counts anew.
    assert jobs_of(source) == jobs
    assert source.account.skipped == {"duplicate": 1, "never_started": 1}


# What a job's second record is, after it ran for an hour, and the policies under which it is one.
WITHOUT_LENGTH = {"Start": "2024-03-01T11:10:00", "End": "2024-03-01T11:10:00"}
LATER = {"Start": "2024-03-01T11:10:00", "End": "2024-03-01T11:20:00"}
NO_JOB: dict[str, tuple[dict[str, str], dict[str, str], str]] = {
    "cancelled at once": (WITHOUT_LENGTH, {}, "zero_run_time"),
    "cancelled at once, and kept": (WITHOUT_LENGTH, {"zero_run_time": "keep"}, "duplicate"),
    "suspended for the whole run": ({**LATER, "Suspended": "00:10:00"}, {}, "zero_run_time"),
    "larger than the system": ({**LATER, "NCPUS": "200"}, {}, "larger_than_system"),
    "without a limit": (
        {**LATER, "Timelimit": "UNLIMITED"},
        {"missing_requested_time": "skip"},
        "missing_requested_time",
    ),
    "without memory": (
        {**LATER, "ReqMem": "0n"}, {"missing_memory": "skip"}, "missing_memory",
    ),
    "without cores": ({**LATER, "NCPUS": "0"}, {"malformed": "skip"}, "malformed"),
}  # fmt: skip


@pytest.mark.parametrize("job_id", ["601", "601_4", "601+1", "1234567890"])
@pytest.mark.parametrize("kind", NO_JOB)
def test_a_requeued_job_whose_last_record_is_no_job(tmp_path: Path, kind: str, job_id: str) -> None:
    """It ran for an hour before: `last` is the last record that ran, `skip` the first."""
    columns, policies, reason = NO_JOB[kind]
    columns = dict(columns)
    suspended = columns.pop("Suspended", "")
    ran = f"{sacct_row(job_id, State='REQUEUED')}|"
    other = f"{sacct_row(job_id, State='CANCELLED by 7', **columns)}|{suspended}"
    rows = f"{sacct_row('602')}|"
    header = f"{HEADER}|Suspended"
    source, jobs = read_sacct(
        tmp_path, ran, other, rows, header=header, duplicate="last", **policies
    )
    assert [traced.run_time for traced in jobs] == [3600, 3600]
    assert source.account.skipped == {reason: 1}
    assert jobs_of(source) == jobs
    source, jobs = read_sacct(
        tmp_path, other, ran, rows, header=header, duplicate="skip", zero_run_time="skip",
        **{name: value for name, value in policies.items() if name != "zero_run_time"},
    )  # fmt: skip
    assert [traced.run_time for traced in jobs] == [3600, 3600]


def test_a_job_of_which_no_record_has_a_length(tmp_path: Path) -> None:
    """The last is the job where such jobs are kept; else each has its own fate."""
    rows = [
        sacct_row("7", Start=f"2024-03-01T1{hour}:00:00", End=f"2024-03-01T1{hour}:00:00")
        for hour in (1, 2)
    ]
    source, jobs = read_sacct(tmp_path, *rows, duplicate="last", zero_run_time="keep")
    assert [traced.run_time for traced in jobs] == [0]
    assert source.account.skipped == {"duplicate": 1}
    source, jobs = read_sacct(tmp_path, *rows, duplicate="last")
    assert (jobs, source.account.skipped) == ([], {"zero_run_time": 2})


def test_a_requeued_job_that_was_cancelled_at_once_runs_its_hour(tmp_path: Path) -> None:
    """As `hpcsched run` reads what `sacct --duplicates` prints."""
    (tmp_path / "jobs.txt").write_text(
        "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|State\n"
        "601|2024-03-01T08:00:00|2024-03-01T08:00:10|2024-03-01T09:00:10|02:00:00|1|1|REQUEUED\n"
        "601|2024-03-01T08:00:00|2024-03-01T09:10:00|2024-03-01T09:10:00|02:00:00|1|1|CANCELLED\n"
        "602|2024-03-01T08:00:05|2024-03-01T08:00:10|2024-03-01T08:30:10|02:00:00|1|1|COMPLETED\n"
    )
    scenario = tmp_path / "requeued.yaml"
    scenario.write_text(
        "name: requeued\n"
        "system: {groups: [{name: node, count: 1, resources: {core: 4}}]}\n"
        "trace: {source: slurm-sacct, path: jobs.txt, time_zone: UTC, duplicate: last}\n"
        "dispatcher: easy\n"
    )
    result = CliRunner().invoke(app, ["run", str(scenario), "--out", str(tmp_path / "run")])
    assert result.exit_code == 0, result.output
    account = json.loads((tmp_path / "run" / "summary.json").read_text())["jobs"]
    assert (account["read"], account["submitted"], account["completed"]) == (3, 2, 2)
    assert account["skipped"] == {"zero_run_time": 1}


def test_numbers_do_not_depend_on_other_records(tmp_path: Path) -> None:
    """A job keeps its number whatever else is in the dump, and when it is read again."""
    ids = ["7", "7_0", "7_12", "7_4000000", "8+0", "8+3", "999999999"]
    numbers = []
    for job_id in ids:
        _, (traced,) = read_sacct(tmp_path, sacct_row(job_id))
        numbers.append(traced.job.job_id)
    source, jobs = read_sacct(tmp_path, *map(sacct_row, ids))
    assert [traced.job.job_id for traced in jobs] == numbers
    assert jobs_of(source) == jobs
    assert max(numbers) < 2**53


def test_sorted_by_default(tmp_path: Path) -> None:
    """Dumps are in order of job ids; jobs come in order of submission all the same."""
    rows = [sacct_row("2", Submit="2024-03-01T09:00:00"), sacct_row("1")]
    _, jobs = read_sacct(tmp_path, *reversed(rows))
    assert [traced.job.job_id for traced in jobs] == [2, 1]
    source, jobs = read_sacct(tmp_path, *reversed(rows), unsorted="skip")
    assert [traced.job.job_id for traced in jobs] == [1]
    assert source.account.skipped == {"unsorted": 1}
    with pytest.raises(InputError, match=r"jobs.txt:3: .*as the job before has"):
        read_sacct(tmp_path, *reversed(rows), unsorted="error")


def test_times_with_an_offset_need_no_zone(tmp_path: Path) -> None:
    """Unix times, offsets and UTC mean the same with and without a zone."""
    row = sacct_row(
        "1", Submit="2024-03-01T10:00:00+0100", Start="2024-03-01T09:05:00Z", End="1709287500"
    )
    _, (traced,) = read_sacct(tmp_path, row, time_zone=None)
    assert (traced.job.submit_time, traced.run_time) == (1709283600, 3600)


def test_the_hour_that_clocks_show_twice(tmp_path: Path) -> None:
    """A time in it is the first of two instants, unless that is before what came before it."""
    row = sacct_row(
        "1", Submit="2024-10-27T02:10:00", Start="2024-10-27T02:50:00", End="2024-10-27T02:20:00"
    )
    source, (traced,) = read_sacct(tmp_path, row)
    assert traced.job.submit_time == 1729987800  # 00:10 UTC, in summer time
    assert traced.run_time == 30 * 60
    assert source.account.clipped == {"ambiguous_time": 1}


def test_resources_whose_names_no_scenario_accepts(tmp_path: Path) -> None:
    """They are changed as `trace system-from` changes them, and a comment says so."""
    tres = "cpu=8,gres/nv-link=2,gres/2080ti:x=4,gres/gpu:1g.5gb=2,gres/gpu=2"
    row = sacct_row("1", NCPUS="8", ReqMem="", AllocTRES=tres)
    resources = {"core": 8, "nv_link": 2, "gres_2080ti": 4, "gpu": 2}
    system = System((NodeGroup("n", 1, resources),))
    source, (traced,) = read_sacct(tmp_path, row, system=system)
    assert amounts(traced, system) == (1, resources)
    assert source.comments[-2:] == [
        "the generic resource nv-link is called nv_link",
        "the generic resource 2080ti is called gres_2080ti",
    ]


@pytest.mark.parametrize(
    ("params", "system", "found"),
    [
        (
            {"resource_types": {"gres/gpu": "accelerator"}},
            {"core": 8, "accelerator": 4},
            {"core": 8, "accelerator": 2},
        ),
        ({"resource_types": {"gres/gpu": None}}, {"core": 8}, {"core": 8}),
        (
            {"resource_types": {"gres/gpu:a100": "a100"}},
            {"core": 8, "gpu": 4, "a100": 4},
            {"core": 8, "gpu": 2, "a100": 2},
        ),
        (
            {"resource_types": {"gres/gpu:a100": "a100", "gres/gpu": None}},
            {"core": 8, "a100": 4},
            {"core": 8, "a100": 2},
        ),
        ({"resource_types": {"cpu": "thread"}}, {"thread": 8, "gpu": 2}, {"thread": 8, "gpu": 2}),
    ],
)
def test_what_a_resource_is_called(
    params: dict[str, dict[str, str | None]],
    system: dict[str, int],
    found: dict[str, int],
    tmp_path: Path,
) -> None:
    """A scenario says which resource type a TRES is."""
    row = sacct_row("1", NCPUS="8", ReqMem="", AllocTRES="gres/gpu:a100=2,gres/gpu=2,fs/disk=7")
    declared = System((NodeGroup("n", 1, system),))
    _, (traced,) = read_sacct(tmp_path, row, system=declared, **params)
    assert amounts(traced, declared) == (1, found)


def test_what_no_node_has_can_be_ignored(tmp_path: Path) -> None:
    """It is counted; the other resource types of the request remain."""
    system = System((NodeGroup("n", 1, {"core": 16}),))
    with pytest.raises(InputError, match=r"txt:2: error: the job asks for gpu, mem, which no node"):
        read_sacct(tmp_path, sacct_row("1", AllocTRES="gres/gpu=1"), system=system)
    source, (traced,) = read_sacct(
        tmp_path, sacct_row("1"), system=system, unknown_resource_type="ignore"
    )
    assert amounts(traced, system) == (1, {"core": 16})
    assert source.account.clipped == {"unknown_resource_type": 1}


def test_gzip_and_folders(tmp_path: Path) -> None:
    """Packed dumps, and folders of dumps in the order of their names, each with its header."""
    folder = tmp_path / "dumps"
    folder.mkdir()
    (folder / ".hidden").write_text("nothing")
    (folder / "2024-02.gz").write_bytes(gzip.compress(f"{HEADER}\n{sacct_row('2')}\n".encode()))
    (folder / "2024-01").write_text(f"{HEADER}\n\n{sacct_row('1')}\n")
    source = sacct_source(folder)
    assert [traced.job.job_id for traced in jobs_of(source)] == [1, 2]
    assert source.account.read == 2
    assert [file.name for file in source.files] == ["2024-01", "2024-02.gz"]
    assert source.fraction_read == 1


def test_how_much_has_been_read(tmp_path: Path) -> None:
    """It grows to 1, and never beyond."""
    rows = [sacct_row(str(number)) for number in range(1, 400)]
    (tmp_path / "dump").write_text("\n".join([HEADER, *rows]))
    source = sacct_source(tmp_path / "dump", unsorted="error")
    shares = [source.fraction_read for _ in source.jobs()]
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] <= 1
    assert source.fraction_read == 1


def test_no_job_is_lost_where_only_the_first_are_wanted(tmp_path: Path) -> None:
    """With a sorted dump, those beyond the first count as such."""
    source, jobs = read_sacct(tmp_path, *(sacct_row(str(n)) for n in range(1, 6)), jobs=2)
    assert len(jobs) == 2
    assert source.account.skipped == {"after_first_jobs": 3}
    assert SYSTEM.node_count == 6


def test_other_separators(tmp_path: Path) -> None:
    """Those of `--delimiter` are refused."""
    with pytest.raises(InputError, match="call sacct without --delimiter"):
        read_sacct(tmp_path, sacct_row("7").replace("|", ";"), header=HEADER.replace("|", ";"))


def test_a_dump_of_raw_numbers(tmp_path: Path) -> None:
    """Without JobID, JobIDRaw is the number, as the history of live runs has it."""
    header = HEADER.replace("JobID", "JobIDRaw")
    source, (traced,) = read_sacct(tmp_path, sacct_row("7"), sacct_row("7.0"), header=header)
    assert traced.job.job_id == 7
    assert source.account.skipped == {"job_step": 1}


@pytest.mark.parametrize(
    ("tres", "gres", "gpus"),
    [
        ("", "gpu:4", 2),
        ("", "gpu:tesla:4", 2),
        ("", "gres/gpu=4", 2),
        ("cpu=16,mem=32G,node=2", "gpu:4", 2),
        ("cpu=16,gres/gpu=2,mem=32G,node=2", "gpu:4", 1),
        ("", "gpu:0", 0),
        ("", "", 0),
    ],
)
def test_devices_before_slurm_20_11(tmp_path: Path, tres: str, gres: str, gpus: int) -> None:
    """AllocGRES has the number on all nodes; it counts where AllocTRES has no devices."""
    row = sacct_row("7", NNodes="2", AllocTRES=tres)
    _, (traced,) = read_sacct(tmp_path, f"{gres}|{row}", header=f"AllocGRES|{HEADER}")
    assert traced.job.unit_request[2] == gpus


def test_suspended_time_is_no_run_time(tmp_path: Path) -> None:
    """Of an hour between start and end, 20 minutes are left; such records are counted."""
    source, jobs = read_sacct(
        tmp_path,
        f"00:40:00|{sacct_row('7')}", f"00:00:00|{sacct_row('8')}", f"|{sacct_row('9')}",
        f"1-00:00:00|{sacct_row('10')}",
        header=f"Suspended|{HEADER}",
    )  # fmt: skip
    assert [run_time for _, run_time in jobs] == [1200, 3600, 3600]
    assert source.account.clipped == {"suspended": 1}
    assert source.account.skipped == {"zero_run_time": 1}


def test_other_forms_of_times(tmp_path: Path) -> None:
    """The message names the variable that asks sacct for them."""
    for submit in ("10:00:00", "01/03/2024 10:00:00", "1 Mar 10:00"):
        with pytest.raises(InputError, match="SLURM_TIME_FORMAT: unset it for sacct"):
            read_sacct(tmp_path, sacct_row("7", Submit=submit))


def test_counts_with_a_suffix(tmp_path: Path) -> None:
    """`sacct` writes 4096 CPUs as 4K, with 1024 to a K."""
    system = System((NodeGroup("cpu", 2048, {"core": 16, "mem": 64 * GIB}),))
    row = sacct_row("1", NNodes="1K", NCPUS="4K", ReqMem="1024G")
    (found,) = read_sacct(tmp_path, row, system=system)[1]
    assert (found.job.units, found.job.unit_request) == (1024, (4, GIB))


def test_a_name_with_a_line_end(tmp_path: Path) -> None:
    """The job is read; its name has a blank there."""
    row = sacct_row("1", JobName="my\njob")
    found, _ = read_sacct(tmp_path, row, sacct_row("2", JobName="b"))[1]
    assert found.job.name == "my job"


@pytest.mark.parametrize(
    ("devices", "tres", "amount"),
    [
        (Devices("gpu", 4), "gres/shard=2", 2),
        (Devices("gpu", 4), "gres/gpu=1,gres/gpu:a100=1", 4),
        (Devices("gpu", 100), "gres/mps=50", 50),
        (Devices("gpu", 112, MIG_PROFILES["a100-40gb"]), "gres/gpu=1,gres/gpu:a100_1g.5gb=1", 15),
        (Devices("gpu", 112, MIG_PROFILES["a100-40gb"]), "gres/gpu:3g.20gb=1", 52),
        (Devices("gpu", 112, MIG_PROFILES["a100-40gb"]), "gres/gpu=2", 224),
    ],
)
def test_shares_of_gpus(tmp_path: Path, devices: Devices, tres: str, amount: int) -> None:
    """Shards, MPS and MIG types are parts of a GPU where the system has GPUs as devices."""
    groups = (NodeGroup("g", 2, {"core": 16, "gpu": 4}, sliced=True),)
    system = System(groups, {"gpu": Fraction(1, devices.shares)}, devices=devices)
    row = sacct_row("1", AllocTRES=f"cpu=16,node=1,{tres}", ReqMem="")
    _, (traced,) = read_sacct(tmp_path, row, system=system, mapping="as_requested")
    assert (traced.job.units, traced.job.unit_request) == (1, (16, amount))


def test_several_slices_of_a_unit(tmp_path: Path) -> None:
    """A unit has one slice: units are made smaller, or the record is refused."""
    devices = Devices("gpu", 112, MIG_PROFILES["a100-40gb"])
    groups = (NodeGroup("g", 2, {"core": 16, "gpu": 4}, sliced=True),)
    system = System(groups, {"gpu": Fraction(1, 112)}, devices=devices)
    row = sacct_row("1", AllocTRES="cpu=16,node=1,gres/gpu:1g.5gb=2", ReqMem="")
    _, (traced,) = read_sacct(tmp_path, row, system=system, mapping="one_each")
    assert (traced.job.units, traced.job.unit_request) == (2, (8, 15))
    source, _ = read_sacct(tmp_path, row, system=system, mapping="as_requested", malformed="skip")
    assert source.account.skipped == {"malformed": 1}
