"""Each preset reads a small file in the data set's own columns; the numbers are worked by hand."""

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hpcsched.errors import InputError
from hpcsched.scenario.document import Document
from hpcsched.scenario.loading import check_document
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.presets.preset_catalogue import (
    columns_of,
    find_preset,
    merged,
    preset_for,
    read_presets,
)
from hpcsched.workload.readers.table import TableColumns, TableParams, TableSource
from tests.workload.presets.samples import WRITERS

EPOCH = 1588334400
"""Unix time of 2020-05-01 12:00:00 UTC, when the first job of each sample is submitted."""
MIB, GIB = 2**20, 2**30
LARGE = 2**50


class Found(NamedTuple):
    """What is read of a job; times begin at the first submission.

    `spread`: each unit is on a node of its own.
    """

    number: int
    submit: int
    wait: int
    run: int
    requested: int
    units: int
    request: Mapping[str, int]
    user: int | None = None
    group: int | None = None
    queue: int | None = None
    name: str | None = None
    spread: bool = True


class Read(NamedTuple):
    """What is read of a sample."""

    jobs: list[Found]
    skipped: Mapping[str, int]
    clipped: Mapping[str, int] = {}
    begins: int = EPOCH


# Throughout: 100 s after a wait of 10 s, and 50 s at once. What is requested is 1 h and 2 min, or
# the run time where nothing is.
EXPECTED: Mapping[str, Read] = {
    # 108 / 3 processors on each node; 7 on one. The third job never ran.
    "eagle": Read(
        [
            Found(1, 0, 10, 100, 3600, 3, {"core": 36}, 1, 1, 1, "1"),
            Found(2, 30, 0, 50, 120, 1, {"core": 7}, 2, 1, 2, "2"),
        ],
        {"missing_run_time": 1},
    ),
    **{
        name: Read(
            [
                Found(1, 0, 10, 100, 3600, 3, {"core": 36}, 1, 1, 1, "4711"),
                Found(2, 30, 0, 50, 120, 1, {"core": 7}, 2, 1, 2, "4712"),
            ],
            {"missing_run_time": 1},
        )
        for name in ("nlr-eagle", "kestrel")
    },
    # 64 / 2 cores and 8 / 2 GPUs; limits in minutes, of which 2³² − 1 is none. One job still runs.
    "pm100": Read(
        [
            Found(1, 0, 10, 100, 3600, 2, {"core": 32, "gpu": 4}, 1, 1, 1, "11"),
            Found(2, 30, 0, 50, 50, 1, {"core": 8, "gpu": 0}, 2, 1, 2, "12"),
        ],
        {"not_ended": 1},
    ),
    "m100": Read(
        [
            Found(1, 0, 10, 100, 3600, 2, {"core": 128}, 1, 1, 1, "11"),
            Found(2, 30, 0, 50, 50, 1, {"core": 8}, 2, 1, 2, "12"),
        ],
        {"not_ended": 1},
    ),
    # Whole nodes of 48 cores. The third row ends before it starts.
    "f-data": Read(
        [
            Found(1, 0, 10, 100, 3600, 2, {"core": 48}, 1, None, None, "jid_0"),
            Found(2, 30, 0, 50, 120, 1, {"core": 48}, 2, None, None, "jid_1"),
        ],
        {"malformed": 1},
    ),
    "frontier": Read(
        [
            Found(7, 0, 10, 100, 3600, 2, {"core": 1}, 1, 1, 1),
            Found(8, 30, 0, 50, 120, 1, {"core": 1}, 2, 1, 2),
        ],
        {},
    ),
    # 40 / 2 CPUs. A start of 0 is none.
    "supercloud": Read(
        [
            Found(1, 0, 10, 100, 3600, 2, {"core": 20}, 1, name="901"),
            Found(2, 30, 0, 50, 50, 1, {"core": 3}, 2, name="902"),
        ],
        {"missing_run_time": 1},
    ),
    # From the first start to the last end: 10 s to 110 s. Four GPUs on two servers are 2 units of
    # 2; three on two servers are 3 units of 1. One job had no attempt, one has not ended.
    "philly": Read(
        [
            Found(1, 0, 10, 100, 100, 2, {"gpu": 2}, 1, None, 1, "application_1"),
            Found(2, 30, 0, 50, 50, 3, {"gpu": 1}, 2, None, 2, "application_2", spread=False),
        ],
        {"missing_run_time": 2},
        {"uneven_units": 1},
    ),
    # Times are of Rome. Memory is that of the nodes used, not the requested one. The second job has
    # its only chunk twice.
    "eurora": Read(
        [
            Found(901, 0, 10, 100, 3600, 2, {"core": 8, "gpu": 1, "mic": 0, "mem": 4 * GIB},
                  queue=1, spread=False),
            Found(902, 30, 0, 50, 120, 1, {"core": 8, "gpu": 0, "mic": 0, "mem": 200 * MIB},
                  queue=2, spread=False),
        ],
        {},
    ),
    # 32 / 2 CPUs and 16 / 2 GPUs; 6 CPUs and 3 GPUs on 2 nodes are 3 units of 2 CPUs and 1 GPU.
    "helios": Read(
        [
            Found(1, 0, 10, 100, 100, 2, {"core": 16, "gpu": 8}, 1, None, 1),
            Found(2, 30, 0, 50, 50, 3, {"core": 2, "gpu": 1}, 2, None, 2, spread=False),
        ],
        {},
        {"uneven_units": 1},
    ),
    # 650 % are 7 cores; 29.296875 GiB are 30000 MiB. An empty plan_gpu is none. The third task runs
    # still, the fourth has no number of instances.
    "pai": Read(
        [
            Found(1, 0, 0, 100, 100, 2, {"core": 7, "gpu_percent": 50, "mem": 30000 * MIB},
                  name="a1", spread=False),
            Found(2, 30, 0, 50, 50, 1, {"core": 1, "gpu_percent": 0, "mem": GIB},
                  name="a1", spread=False),
        ],
        {"not_ended": 1, "missing_units": 1},
    ),
    # 3152 thousandths of a core are 4 cores, and 460 of a GPU, without shares, a whole one.
    "openb": Read(
        [
            Found(
                1, 0, 10, 100, 100, 1, {"core": 88, "gpu": 8, "mem": 16 * GIB},
                queue=1, name="openb-pod-0000", spread=False),
            Found(
                2, 30, 0, 50, 50, 1, {"core": 4, "gpu": 1, "mem": 5600 * MIB},
                queue=2, name="openb-pod-0001", spread=False),
        ],
        {"not_ended": 1},
        begins=0,
    ),
    # 32 / 2 cores; 31 on 3 nodes are 11 on each. The third row has no nodes.
    "alcf": Read(
        [
            Found(1, 0, 10, 100, 3600, 2, {"core": 16}, 1, 1, 1, "1.mira"),
            Found(2, 30, 0, 50, 120, 3, {"core": 11}, 2, 1, 2, "2.mira"),
        ],
        {"malformed": 1},
        {"uneven_units": 1},
    ),
    # 99500 ms are 100 s; 16000 MB.
    "opendc": Read(
        [
            Found(1, 0, -1, 100, 100, 1, {"core": 4, "mem": 16 * 10**9}, name="a", spread=False),
            Found(2, 30, -1, 50, 50, 1, {"core": 1, "mem": 10**8}, name="b", spread=False),
        ],
        {},
        {"fractional_seconds": 1},
    ),
}  # fmt: skip


def system_for(name: str) -> System:
    """Return a system with room for all that the jobs of a preset ask for."""
    trace = find_preset(name).trace
    types = dict.fromkeys([*trace.get("requests", {}), *trace.get("unit", {})])
    return System([NodeGroup("node", 8, dict.fromkeys(types, LARGE))])


def read(name: str, path: Path, **params: Any) -> Read:
    """Read a file with a preset."""
    system = system_for(name)
    given = TableParams.model_validate({"path": str(path), "preset": name, **params})
    source = TableSource(given, system)
    waits = source.keep_waits()
    jobs = list(source.jobs())
    begins = min(traced.job.submit_time for traced in jobs)
    found = [
        Found(
            traced.job.job_id,
            traced.job.submit_time - begins,
            waits.get(traced.job.job_id, -1),
            traced.run_time,
            traced.job.requested_time,
            traced.job.units,
            dict(zip(system.resource_types, traced.job.unit_request, strict=True)),
            traced.job.user,
            traced.job.group,
            traced.job.queue,
            traced.job.name,
            traced.job.request.one_unit_per_node,
        )
        for traced in jobs
    ]
    account = source.account
    assert account.read == len(jobs) + sum(account.skipped.values())
    return Read(found, dict(account.skipped), dict(account.clipped), begins)


@pytest.mark.parametrize("name", read_presets())
def test_each_preset(tmp_path: Path, name: str) -> None:
    """Times, units, requests and names of the jobs; what becomes of other rows."""
    assert read(name, WRITERS[name](tmp_path)) == EXPECTED[name]


@pytest.mark.parametrize("name", read_presets())
def test_what_a_user_has_to_know(name: str) -> None:
    """Every preset says where the data are, how to get them, whom to cite, and on which terms."""
    preset = find_preset(name)
    for said in (preset.title, preset.about, preset.get, preset.cite, preset.licence, preset.unit):
        assert said.strip() == said != ""
    assert preset.home.startswith("https://")
    for file in preset.files:
        assert file.address.startswith("https://")
        assert file.sha256 is None or len(bytes.fromhex(file.sha256)) == 32
    # The parameters are valid as they stand.
    TableParams.model_validate({"path": "file", **preset.trace})


@pytest.mark.parametrize("name", [name for name in read_presets() if name not in ("pai", "philly")])
def test_columns_tell_the_preset(name: str) -> None:
    """The data set is recognised by the columns that its preset reads, and some more."""
    preset = preset_for([*find_preset(name).columns, "another"])
    assert preset is not None
    assert preset.name == name
    assert preset_for(find_preset(name).columns[1:]) is None


def test_a_wrong_file(tmp_path: Path) -> None:
    """One message names the preset, the data set, what is missing, and what was found."""
    path = WRITERS["helios"](tmp_path)
    with pytest.raises(InputError) as caught:
        read("pm100", path)
    (finding,) = caught.value.findings
    message = str(finding)
    assert message.startswith(
        f"{path}: error: trace.preset: the preset 'pm100' reads PM100; the table"
    )
    assert message.partition("called ")[2].startswith(
        "'run_time', 'time_limit', 'num_nodes_alloc', 'user_id', 'group_id', 'qos', 'partition',"
        " 'num_cores_alloc', 'num_gpus_alloc', 'job_state'; there are: "
    )
    assert "there are: job_id, user, vc, gpu_num, cpu_num" in message


def test_an_unknown_preset() -> None:
    """The nearest is named, or all are."""
    with pytest.raises(ValueError, match="did you mean 'pm100'"):
        find_preset("PM10")
    with pytest.raises(ValueError, match="there are: alcf, eagle"):
        TableParams.model_validate({"path": "file", "preset": "zzz"})


def test_keys_beside_a_preset(tmp_path: Path) -> None:
    """They replace what the preset says of the same field or resource type, and nothing else."""
    path = WRITERS["helios"](tmp_path)
    found = read("helios", path, requests={"core": None}, uneven_units="up", named=["user"],
                 columns={"queue": None, "name": "state"}, missing_requested_time=500)  # fmt: skip
    assert found.jobs[1] == Found(
        2, 30, 0, 50, 500, 2, {"core": 0, "gpu": 2}, 2, None, None, "FAILED"
    )
    by_units = read("helios", path, constants={"units": 4}, amounts="unit", unit={"core": 1})
    assert by_units.jobs[0].units == 4
    assert by_units.jobs[0].request == {"core": 1, "gpu": 16}
    timed = read("helios", path, columns={"run_time": "duration"})
    assert [job.run for job in timed.jobs] == [100, 50]
    assert [job.wait for job in timed.jobs] == [10, 0]


def test_merging() -> None:
    """A field has a column or a constant, and a type a column or an amount, whichever is given."""
    preset = {
        "columns": {"units": "n", "run_time": "r"}, "constants": {"user": 1},
        "requests": {"core": "c", "gpu": {"column": "g", "times": "m"}}, "unit": {"mem": 1},
        "not_ended": {"column": "s", "values": ["R"]},
    }  # fmt: skip
    assert list(columns_of(preset)) == ["n", "r", "c", "g", "m", "s"]
    given = {
        "columns": {"user": "u", "end_time": "e"}, "constants": {"units": 2},
        "requests": {"mem": "m"}, "unit": {"gpu": 1, "core": 2},
    }  # fmt: skip
    assert merged(given, preset) == {**given, "not_ended": preset["not_ended"]}
    assert merged({}, preset) == preset


def test_several_files(tmp_path: Path) -> None:
    """A folder of tables is one trace, packed files too; other files in it are no tables."""
    first = WRITERS["helios"](tmp_path).read_text(encoding="utf-8")
    (tmp_path / "jobs.csv").unlink()
    later = tmp_path / "data" / "venus"
    later.mkdir(parents=True)
    header, *rows = first.splitlines(keepends=True)
    (tmp_path / "data" / "a.csv").write_text(header + rows[0], encoding="utf-8")
    (later / "b.csv.gz").write_bytes(gzip.compress((header + rows[1]).encode()))
    (later / "LICENSE.md").write_text("words")
    assert read("helios", tmp_path / "data") == EXPECTED["helios"]


def test_time_stamps_as_numbers(tmp_path: Path) -> None:
    """OpenDC's submissions are milliseconds where the file does not say that they are times."""
    path = WRITERS["opendc"](tmp_path)
    table = pq.read_table(path)
    number = table.column("submission_time").cast(pa.int64())
    at = table.column_names.index("submission_time")
    pq.write_table(table.set_column(at, "submission_time", number), path)
    assert read("opendc", path) == EXPECTED["opendc"]


@pytest.mark.parametrize("name", read_presets())
def test_resolved_parameters(name: str) -> None:
    """A resolved scenario has all that the preset says, and means the same when it is read."""
    given = {"path": "file", "preset": name, "jobs": 5}
    params = TableParams.model_validate(given)
    assert params.columns.submit_time == find_preset(name).trace["columns"]["submit_time"]
    assert TableParams.model_validate(params.model_dump()) == params
    assert (
        TableParams.model_validate({**given, "columns": TableColumns(), "constants": {}}) == params
    )


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        ({"preset": "pm10"}, "trace.preset: there is no preset 'pm10'; did you mean 'pm100'?"),
        (
            {"preset": "pm100", "colums": {}},
            "there is no key 'colums' here; did you mean 'columns'?",
        ),
        (
            {"preset": "pm100", "columns": {"submit": "s"}},
            "no key 'submit' here; did you mean 'submit_time'?",
        ),
        ({"preset": "pm100", "columns": 3}, "trace.columns: expected"),
        ({"preset": 3}, "trace.preset: expected"),
    ],
)
def test_what_a_scenario_cannot_say(tmp_path: Path, trace: dict[str, Any], message: str) -> None:
    """Errors have the keys of the scenario, as without a preset."""
    scenario = {
        "name": "x",
        "system": {"groups": [{"name": "node", "count": 1, "resources": {"core": 1}}]},
        "trace": {"source": "table", "path": str(tmp_path / "jobs.csv"), **trace},
        "dispatcher": "easy",
    }
    with pytest.raises(InputError) as caught:
        check_document(Document(scenario), Path("x.yaml"))
    (finding,) = caught.value.findings
    assert message in str(finding)


def test_a_system_that_lacks_a_resource_type(tmp_path: Path) -> None:
    """The message says how to leave it out."""
    path = WRITERS["helios"](tmp_path)
    params = TableParams.model_validate({"path": str(path), "preset": "helios"})
    with pytest.raises(InputError, match=r"for gpu, which no .*'requests: \{TYPE: null\}'"):
        TableSource(params, System([NodeGroup("node", 8, {"core": 48})]))
