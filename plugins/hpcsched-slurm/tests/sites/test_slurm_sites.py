"""Systems and partitions from `slurm.conf` and from what `scontrol show` prints."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched import cli
from hpcsched.errors import InputError
from hpcsched.scenario import load_scenario
from hpcsched_slurm.site.entries import read_entries
from hpcsched_slurm.site.site import part_of, read_site
from hpcsched_slurm.site.writing import as_yaml
from sites.origins import without_origins
from tests.strategies import tries

CONFIGURATION = """\
# A made-up site
ClusterName=test
NodeName=DEFAULT State=UNKNOWN ThreadsPerCore=1
NodeName=c[1-3,07-08] NodeHostname=localhost Port=[16821-16825] Sockets=1 CoresPerSocket=16 \\
    RealMemory=64000 Feature=cpu
nodename=g[1-3] boards=1 SocketsPerBoard=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=128000 \
Gres=gpu:a:2,gpu:b:2(S:0-1),bandwidth:lustre:no_consume:4G Feature=gpu MemSpecLimit=1000
NodeName=fat CPUs=64 CoreSpecCount=4  # the administrator's own
NodeName=later[1-99] CPUs=128 State=FUTURE
NodeSet=gpus Feature=gpu
PartitionName=DEFAULT MaxTime=1-00:00:00
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=1 Nodes=c[1-3],later1 PriorityJobFactor=10
PartitionName=on Nodes=gpus,fat MaxTime=90
PartitionName=empty State=UP
"""
FROM_CONFIGURATION = """\
# From slurm.conf: 9 nodes.
# nodename later[1-99]: left out: State=FUTURE
# partitionname empty: left out: a partition without nodes runs no job
system:
  groups:
    - {name: c, count: 3, resources: {core: 16, mem: 64000MiB}}  # c[1-3]
    - {name: c-2, count: 2, resources: {core: 16, mem: 64000MiB}}  # c[07-08]
    - {name: g, count: 3, resources: {core: 32, mem: 127000MiB, gpu: 4}}  # g[1-3], gpu:a, gpu:b
    - {name: fat, count: 1, resources: {core: 60}}  # fat
partitions:
  - {name: main, jobs: {partition: [main]}}
  - {name: "1", jobs: {partition: ["1"]}, groups: [c], max_time: 1d, priority: 10}
  - {name: "on", jobs: {partition: ["on"]}, groups: [g, fat], max_time: 90min}
"""

STATE = """\
NodeName=c1 Arch=x86_64 CoresPerSocket=16
   CPUAlloc=0 CPUEfctv=16 CPUTot=16 CPULoad=0.50
   AvailableFeatures=cpu
   ActiveFeatures=cpu
   Gres=(null)
   NodeAddr=127.0.0.1 NodeHostName=localhost Port=16821 Version=22.05.8
   OS=Linux 6.1.0 #1 SMP PREEMPT_DYNAMIC Debian 6.1.0
   RealMemory=64000 AllocMem=0 FreeMem=1200 Sockets=1 Boards=1
   State=IDLE ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   Partitions=main
   BootTime=2024-03-01T10:00:00 SlurmdStartTime=2024-03-01T10:00:00
   CfgTRES=cpu=16,mem=62.50G,billing=16
   AllocTRES=
   CapWatts=n/a
   Reason=CPUTot=99 Not responding [slurm@2024-03-01T10:00:00]

NodeName=c2 Arch=x86_64 CoresPerSocket=16
   CPUAlloc=0 CPUEfctv=16 CPUTot=16 CPULoad=0.50
   Gres=(null)
   RealMemory=64000 AllocMem=0 FreeMem=1200 Sockets=1 Boards=1
   State=DOWN*+DRAIN ThreadsPerCore=1
   Partitions=main

NodeName=g1 Arch=x86_64 CoresPerSocket=8
   CPUAlloc=4 CPUTot=8 CPULoad=0.50 Gres=gpu:a100:4(S:0,1)
   RealMemory=128000 Partitions=main,gpu
"""
PARTITIONS = """
PartitionName=gpu
   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL
   MaxNodes=UNLIMITED MaxTime=2-12:00:00 MinNodes=0 LLN=NO
   Nodes=g1
   PriorityJobFactor=5 PriorityTier=5 RootOnly=NO
"""
FROM_STATE = """\
# From site.txt: 3 nodes.
system:
  groups:
    - {name: c, count: 2, resources: {core: 16, mem: 64000MiB}}  # c[1-2]
    - {name: g, count: 1, resources: {core: 8, mem: 128000MiB, gpu: 4}}  # g1, gpu:a100
partitions:
"""


def written(folder: Path, text: str, name: str = "slurm.conf") -> str:
    """Return what a file becomes, after a look at whether a scenario takes it."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    blocks = without_origins(as_yaml(read_site(read_entries(path)), path))
    scenario = folder / "scenario.yaml"
    scenario.write_text(
        f"name: site\n{blocks}trace: {{source: lublin99, jobs: 5}}\ndispatcher: easy\n"
    )
    load_scenario(scenario)
    return blocks


def test_configuration(tmp_path: Path) -> None:
    """Defaults, lines that go on, features, what is kept back for the system, nodes to come."""
    assert written(tmp_path, CONFIGURATION) == FROM_CONFIGURATION


def test_state(tmp_path: Path) -> None:
    """Blocks of nodes, and of partitions where they are there."""
    main = "  - {name: main, jobs: {partition: [main]}}\n"
    plain = "  - {name: gpu, jobs: {partition: [gpu]}, groups: [g]}\n"
    told = plain.replace("}\n", ", max_time: 60h, priority: 5, tier: 5}\n")
    assert written(tmp_path, STATE, "site.txt") == FROM_STATE + main + plain
    assert written(tmp_path, STATE + PARTITIONS, "site.txt") == FROM_STATE + told + main


def test_state_on_one_line_each(tmp_path: Path) -> None:
    """`scontrol -o` says the same."""
    blocks = (STATE + PARTITIONS).split("\n\n")
    lines = [" ".join(" ".join(block.splitlines()).split()) for block in blocks]
    text = "\n".join(lines).replace(" PartitionName", "\nPartitionName")
    assert text.count("\n") == 3
    assert written(tmp_path, text, "site.txt") == written(tmp_path, STATE + PARTITIONS, "site.txt")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It writes the blocks to its output, and warns of lines that give nothing."""
    path = tmp_path / "slurm.conf"
    path.write_text(CONFIGURATION)
    assert cli.main(["trace", "system-from", str(path)]) == 0
    out, err = capsys.readouterr()
    assert without_origins(out) == FROM_CONFIGURATION
    assert err == (
        f"{path}:8: warning: nodename later[1-99]: left out: State=FUTURE [bad-entry]\n"
        f"{path}:14: warning: partitionname empty: left out: a partition without nodes runs no job"
        " [bad-entry]\n"
    )


def test_lines_that_go_on_are_joined_directly(tmp_path: Path) -> None:
    """Slurm puts no blank between them: three nodes, and a partition with two of them."""
    text = "NodeName=c1,\\\nc2,\\  \nc3 CPUs=4\nPartitionName=p Nodes=\\\nc[1-2]\n"
    assert written(tmp_path, text) == (
        "# From slurm.conf: 3 nodes.\nsystem:\n  groups:\n"
        "    - {name: c, count: 2, resources: {core: 4}}  # c[1-2]\n"
        "    - {name: c-2, count: 1, resources: {core: 4}}  # c3\n"
        "partitions:\n  - {name: p, jobs: {partition: [p]}, groups: [c]}\n"
    )


def test_blanks_around_the_sign(tmp_path: Path) -> None:
    """Cores, devices and partitions are the same with blanks around `=`, and with `+=`."""
    plain = "NodeName=a[1-2] CPUs=4 Gres=gpu:2\nPartitionName=p Nodes=a1\nLicenses=x:2\n"
    assert written(tmp_path, plain.replace("=", " = ")) == written(tmp_path, plain)
    assert written(tmp_path, plain.replace("=", "\t+=")) == written(tmp_path, plain)


def test_included_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file beside the first is read in the place of its name; messages name it."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "nodes.conf").write_text("NodeName=DEFAULT CPUs=4\ninclude parts/more.conf\n")
    (tmp_path / "parts" / "more.conf").write_text("\nNodeName=c[1-2]\nNodeName=g CPUs=x\n")
    text = "Include /etc/slurm/nodes.conf\nPartitionName=p Nodes=ALL\n"
    assert "- {name: c, count: 2, resources: {core: 4}}" in written(tmp_path, text)
    assert cli.main(["trace", "system-from", str(tmp_path / "slurm.conf")]) == 0
    assert f"{tmp_path / 'parts' / 'more.conf'}:3: warning: nodename g:" in capsys.readouterr().err
    (tmp_path / "nodes.conf").write_text("NodeName=c1\n\nInclude slurm.conf\n")
    assert cli.main(["trace", "system-from", str(tmp_path / "slurm.conf")]) == 1
    told = f"{tmp_path / 'nodes.conf'}:3: error: the file slurm.conf was read before [include]\n"
    assert capsys.readouterr().err == told


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("PartitionName=p", "partitionname p: left out: a partition without nodes runs no job"),
        ("PartitionName=p Nodes=(null)", "partitionname p: left out: a partition without nodes"),
        ("PartitionName=p Nodes=b", "partitionname p: left out: there is no node b"),
        ("PartitionName = p, Nodes a", "partitionname p,: expected KEY=VALUE, found 'Nodes a'"),
        ("PartitionName p Nodes=a", "partitionname : left out: expected a line that begins with"),
        ("Nodes=a PartitionName=p", "partitionname : left out: expected a line that begins with"),
        (
            "NodeName b CPUs=4",
            "nodename : left out: expected a line that begins with nodename=",
        ),
        ("NodeName=b, c CPUs=4", "nodename b,: expected KEY=VALUE, found 'c', which is left out"),
        ("NodeName=b State=FUTURE", "nodename b: left out: State=FUTURE"),
        ("NodeName= CPUs=4", "nodename CPUs=4: left out: expected hosts such as c1 or c[1-3]"),
    ],
)
def test_lines_that_give_nothing_are_told(
    line: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line about nodes or a partition that adds none always gives a warning."""
    path = tmp_path / "slurm.conf"
    path.write_text(f'NodeName=a\n# NodeName x\nDownNodes=a Reason="NodeName z"\n{line}\n')
    assert cli.main(["trace", "system-from", str(path)]) == 0
    err = capsys.readouterr().err
    assert f"{path}:4: warning: {told}" in err
    assert "NodeName z" not in err


@pytest.mark.parametrize(
    "fault",
    [
        (b"", None, "no-nodes", "expected a slurm.conf with NodeName lines"),
        (b"NodeName=c1 \0", None, "no-text", "found a NUL byte"),
        ("NodeName=größe CPUs=1".encode("latin-1"), None, "unreadable-file", "not UTF-8 text"),
        ("NodeName=c1".encode("utf-16"), None, "unreadable-file", "not UTF-8 text"),
        (b"\nInclude nodes.conf\nNodeName=a", 2, "include", "expected the file nodes.conf in"),
        (b"Include ../nodes.conf", 1, "include", "expected the file ../nodes.conf in the folder"),
        (b"NodeName=c[1-3", 1, "bad-entry", "expected ']' in the list of hosts"),
        (b"NodeName=c1]", 1, "bad-entry", "expected hosts such as c[1-3,5]"),
        (b"NodeName=c[a-b]", 1, "bad-entry", "expected numbers such as 1-3,5 in brackets"),
        (b"NodeName=c[3-1]", 1, "bad-entry", "expected a range such as 1-3, found '3-1'"),
        (b"NodeName=c[1-999999999]", 1, "bad-entry", "expected a range such as 1-3"),
        (b"NodeName=c[1-9999][1-9999]", 1, "bad-entry", "expected at most 1000000 hosts"),
        (b"NodeName=-c", 1, "bad-entry", "expected hosts such as c1 or c[1-3], found '-c'"),
        (b"NodeName=,", 1, "bad-entry", "expected the names of nodes, found none"),
        (b"NodeName=a CPUs=many", 1, "bad-entry", "expected a number of cpus, found 'many'"),
        (b"NodeName=a CPUs=4 CoreSpecCount=4", 1, "bad-entry", "expected CPUs for jobs, found 0"),
        (b"NodeName=a MemSpecLimit=4", 1, "bad-entry", "expected more RealMemory than MemSpec"),
        (b"NodeName=a State=FUTURE", 1, "bad-entry", "left out: State=FUTURE"),
        (
            b"NodeName=a\nPartitionName=p Nodes=a MaxTime=9999999-00:00:00 PriorityJobFactor="
            b"999999999", None, "", "",
        ),
    ],
)  # fmt: skip
def test_faults(
    fault: tuple[bytes, int | None, str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One message each, with the line, and nothing is written; what is only large is fine."""
    content, line, rule, message = fault
    path = tmp_path / "slurm.conf"
    path.write_bytes(content)
    assert cli.main(["trace", "system-from", str(path)]) == (1 if rule else 0)
    out, err = capsys.readouterr()
    if not rule:
        assert (out != "", err) == (True, "")
        return
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"{path}:{line}: error: " if line else f"{path}: error: ")
    assert message in err
    assert err.endswith(f"[{rule}]\n")


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is named."""
    assert cli.main(["trace", "system-from", str(tmp_path / "none")]) == 1
    assert "the file cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "warning"),
    [
        ("NodeName=a CPUs=8", "nodename a: the node a was described before"),
        ("NodeName=-c[1-3]", "nodename -c[1-3]: left out: expected hosts such as c1 or c[1-3]"),
        ("NodeName=b CPUs=many", "nodename b: left out: expected a number of cpus, found 'many'"),
        ("NodeName=b CPUs=x\nPartitionName=p Nodes=a,b", "nodename b: left out: expected a number"),
        ("NodeName=b Gres=gpu:a:b:c,shard:2", "found 'gpu:a:b:c'"),
        ("PartitionName=p Nodes=a,b", "partitionname p: left out: there is no node b"),
        ("PartitionName=p Nodes=a MaxTime=x", "partitionname p: left out: expected a time limit"),
        ("PartitionName=p PriorityJobFactor=-1", "expected a number of PriorityJobFactor"),
        (
            "PartitionName=p Nodes=a\nPartitionName=p Nodes=a",
            "partitionname p: left out: the partition was described before",
        ),
        (
            "NodeSet=s Nodes=t\nNodeSet=t Nodes=a\nPartitionName=p Nodes=s",
            "partitionname p: left out: the node set s names another one",
        ),
    ],
)
def test_what_is_left_out(
    line: str, warning: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One warning says what and where; all else of the site is written."""
    path = tmp_path / "slurm.conf"
    path.write_text(f"NodeName=a CPUs=4\n{line}\n")
    assert cli.main(["trace", "system-from", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "{name: a, count: 1, resources: {core: 4}" in out
    assert err.startswith(f"{path}:")
    assert warning in err
    assert warning in out.splitlines()[1]
    assert (err.count("\n"), err.endswith(" [bad-entry]\n")) == (1, True)
    assert ("shard: 2" in out) == ("shard" in line)


def test_devices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Any type of a device is understood; a name that no scenario accepts is changed, and told."""
    path = tmp_path / "slurm.conf"
    path.write_text(
        "NodeName=g1 Gres=gpu:2080ti:4,gpu:3090:2(S:0-1)\nNodeName=m1 Gres=gpu:1g.5gb:7,none\n"
        "NodeName=p1 Gres=N/A\nNodeName=p2 Gres=gpu:0\nNodeName=p3 Gres=bandwidth:no_consume:4G\n"
        "NodeName=x1 Gres=2080ti:1,nv-link:2,NV_Link:3,mem:5\n"
    )
    assert cli.main(["trace", "system-from", str(path)]) == 0
    out, err = capsys.readouterr()
    out = without_origins(out)
    assert out == written(tmp_path, path.read_text())
    assert out.splitlines()[6:] == [
        "    - {name: g, count: 1, resources: {core: 1, gpu: {count: 6}}}"
        "  # g1, gpu:2080ti, gpu:3090",
        "    - {name: m, count: 1, resources: {core: 1, gpu: {count: 1, profile: a100-40gb}}}"
        "  # m1, gpu:1g.5gb",
        "    - {name: p, count: 3, resources: {core: 1}}  # p[1-3]",
        "    - {name: x, count: 1, resources: {core: 1, gres_2080ti: 1, nv_link: 5, gres_mem: 5}}"
        "  # x1",
    ]
    told = [
        "the generic resource 2080ti is called gres_2080ti",
        "the generic resources NV_Link and nv-link are counted together, as nv_link",
        "the generic resource mem is called gres_mem",
    ]
    assert err.splitlines() == [f"{path}: warning: {one} [renamed]" for one in told]
    assert out.splitlines()[1:4] == [f"# {one}" for one in told]


def test_limits_that_a_scenario_does_not_have(tmp_path: Path) -> None:
    """A comment names them; values that limit nothing are not named. `MaxNodes` is a limit."""
    text = (
        "NodeName=a CPUs=4\nPartitionName=p Nodes=a MaxNodes=1 MinNodes=1 AllowAccounts=x,y"
        " AllowGroups=ALL QoS=N/A OverSubscribe=EXCLUSIVE Exclusive=NODE"
        " State=DOWN\n"
        "PartitionName=q Nodes=a MaxNodes=UNLIMITED MinNodes=0 OverSubscribe=NO State=UP"
        " Exclusive=NO\n"
    )
    assert written(tmp_path, text).splitlines()[-2:] == [
        "  - {name: p, jobs: {partition: [p]}, limits: {per_job: {nodes: 1}}}"
        "  # without AllowAccounts=x,y, Exclusive=NODE, OverSubscribe=EXCLUSIVE, State=DOWN",
        "  - {name: q, jobs: {partition: [q]}}",
    ]


def test_licences(tmp_path: Path) -> None:
    """They are shared resources, from a configuration and from `scontrol show licenses` alike."""
    shared = [
        "  shared_resources:",
        "    - {name: license_matlab, capacity: 3, draw: as_the_trace_says}  # matlab",
        "    - {name: license_comsol_flex, capacity: 1, draw: as_the_trace_says}  # Comsol@flex",
    ]
    blocks = written(tmp_path, "NodeName=a CPUs=4\nLicenses=matlab:3,Comsol@flex,none:0\n")
    assert blocks.splitlines()[-3:] == shared
    told = "LicenseName=matlab\n    Total=3 Used=1 Free=2 Reserved=0 Remote=no\n"
    told += "LicenseName=Comsol@flex\n    Total=1 Used=0 Free=1 Reserved=0 Remote=yes\n"
    assert written(tmp_path, STATE + told, "site.txt").splitlines()[5:8] == shared
    # `scontrol show config` names them too, once more here.
    told += "Configuration data as of 2024\nLicenses                = matlab:3,Comsol@flex\n"
    both = written(tmp_path, STATE + told, "site.txt")
    assert both.splitlines()[5:8] == shared
    assert "left out" not in both


def test_licences_that_are_left_out(tmp_path: Path) -> None:
    """Those that are not understood, or have the name of another, are named in a comment."""
    blocks = written(tmp_path, "NodeName=a CPUs=4\nLicenses=m:3,M:4\n")
    assert "# licenses m:3,M:4: left out: M was described before" in blocks
    assert "{name: license_m, capacity: 3," in blocks
    blocks = written(tmp_path, "NodeName=a CPUs=4\nLicenses=m:many\n")
    assert "left out: expected licences such as matlab:2,comsol, found 'm:many'" in blocks
    assert "shared_resources" not in blocks


def test_part_of_a_site(tmp_path: Path) -> None:
    """Only the nodes of the named partitions are left; a partition without nodes is refused."""
    path = tmp_path / "slurm.conf"
    path.write_text(CONFIGURATION)
    site = read_site(read_entries(path))
    assert list(part_of(site, ["1"]).nodes) == ["c1", "c2", "c3"]
    with pytest.raises(ValueError, match="no node belongs to empty"):
        part_of(site, ["main", "empty"])


@tries(300)
@given(
    text=st.lists(
        st.sampled_from(
            [
                *(
                    "NodeName=",
                    "PartitionName=",
                    "NodeSet=",
                    "Licenses=",
                    "LicenseName=",
                    "Nodes=",
                    "Gres=",
                    "CPUs=",
                    "MaxTime=",
                ),
                *(
                    "c[1-3]",
                    "c",
                    "[",
                    "]",
                    ",",
                    "-",
                    "4",
                    " ",
                    "\n",
                    "\\",
                    "#",
                    "ALL",
                    "DEFAULT",
                    "=",
                ),
                *("CPUAlloc=0 ", "gpu:2", "RealMemory=", "99999999999", '"', "on", "State=FUTURE"),
            ]
        )
        | st.text(max_size=3),
        max_size=25,
    )
)
def test_any_text_ends_well(text: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever a file says, it becomes blocks that a scenario takes, or an InputError."""
    folder = tmp_path_factory.mktemp("site")
    try:
        written(folder, "".join(text).encode("utf-8", "replace").decode())
    except InputError as error:
        assert "scenario.yaml" not in str(error)


@pytest.mark.parametrize(
    ("gres", "declared"),
    [
        (("gpu:a:4,shard:16", "gpu:2,shard:8"), ("{count: 4, shares: 4}", "{count: 2, shares: 4}")),
        (("gpu:4,mps:400", "gpu:8"), ("{count: 4, shares: 100}", "{count: 8, shares: 100}")),
        # Shards that are not of one size stay numbers.
        (("gpu:4,shard:16", "gpu:4,shard:8"), ("4, shard: 16", "4, shard: 8")),
        (("gpu:4,shard:15", "gpu:4"), ("4, shard: 15", "4")),
        # Fourteen slices need two GPUs; the other node has whole ones.
        (("gpu:1g.5gb:14", "gpu:4"), ("{count: 2, profile: a100-40gb}", "{count: 4}")),
        (
            ("gpu:a100_1g.10gb:2,gpu:a100_3g.40gb:1", "gpu:7g.80gb:3"),
            ("{count: 1, profile: a100-80gb}", "{count: 3, profile: a100-80gb}"),
        ),
        (("gpu:1g.5gb:7", "gpu:7g.80gb:1"), ("7", "1")),
    ],
)
def test_gpus_that_are_shared(
    tmp_path: Path, gres: tuple[str, str], declared: tuple[str, str]
) -> None:
    """Shards, MPS and MIG slices make GPUs devices, if all nodes have the same."""
    conf = tmp_path / "slurm.conf"
    nodes = "".join(f"NodeName=n{k} CPUs=8 Gres={one}\n" for k, one in enumerate(gres))
    conf.write_text(f"{nodes}PartitionName=p Nodes=ALL\n")
    text = as_yaml(read_site(read_entries(conf)), conf)
    for one in declared:
        assert f"resources: {{core: 8, gpu: {one}}}" in text
