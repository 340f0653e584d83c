"""System files of the Alea simulator: good ones, and everything that is wrong with bad ones."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.cli import main
from hpcsched.errors import Finding, InputError, Place
from hpcsched.scenario import load_scenario
from hpcsched.system.machines import Cluster, read_machines
from tests.strategies import tries

KIB = 1024
GOOD = "0\tzewura\t20\t80\t1\t529426432\n1\tzegox\t48\t12\t1\t94035968\n"
CLUSTERS = [
    Cluster(1, "zewura", 20, 80, 529426432 * KIB),
    Cluster(2, "zegox", 48, 12, 94035968 * KIB),
]
SCENARIO = """\
name: machines
system: sc.machines
trace: {source: swf, path: none.swf}
dispatcher: easy
"""


def write(folder: Path, data: str | bytes) -> Path:
    """Write a file of machines."""
    path = folder / "sc.machines"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def findings_of(path: Path) -> list[Finding]:
    """Return what is wrong with a file, all of it within the file."""
    with pytest.raises(InputError) as caught:
        read_machines(path)
    assert {f.place.file for f in caught.value.findings if f.place} == {str(path)}
    return list(caught.value.findings)


@pytest.mark.parametrize(
    "data",
    [
        GOOD,
        GOOD.rstrip("\n"),
        GOOD.replace("\t", "   "),
        GOOD.replace("\n", "\r\n"),
        b"\xef\xbb\xbf" + GOOD.encode(),
        b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode(),
        GOOD.replace("\t1\t", "\t1.75\t"),
        GOOD.replace("0\tzewura", "x\tzewura"),
    ],
)
def test_good_files(data: str | bytes, tmp_path: Path) -> None:
    """White space, line ends, a byte order mark and speeds make no difference."""
    assert list(read_machines(write(tmp_path, data))) == CLUSTERS


def test_blank_lines_count(tmp_path: Path) -> None:
    """Blank lines are skipped, and counted in the numbers of lines."""
    first, second = GOOD.splitlines()
    clusters = read_machines(write(tmp_path, f"\n \t \n{first}\n\r\n{second}\n\n"))
    assert [cluster.line for cluster in clusters] == [3, 5]


def test_names(tmp_path: Path) -> None:
    """Clusters may have digits, dots, underscores and hyphens in their names."""
    text = "".join(f"0 {name} 1 1 1 1\n" for name in ("a", "A", "9", "a.b-c_d", "a" * 100))
    names = [cluster.name for cluster in read_machines(write(tmp_path, text))]
    assert names == ["a", "A", "9", "a.b-c_d", "a" * 100]


def test_the_largest_cluster(tmp_path: Path) -> None:
    """Nodes, cores and memory may be as large as a scenario's."""
    (cluster,) = read_machines(write(tmp_path, f"0 a 10000000 {2**53} 1 {2**43}\n"))
    assert (cluster.nodes, cluster.cores, cluster.memory) == (10_000_000, 2**53, 2**53)


# A damaged line, which follows a good one, and what is said of it.
BAD = {
    "too few fields": ("1 zegox 48 12 1", ["expected 6 fields (number, cluster, nodes, "]),
    "too many fields": ("1 zegox 48 12 1 9 9", [", memory per node in KiB), found 7"]),
    "a comment": ("# clusters", ["expected 6 fields"]),
    "text for nodes": ("1 zegox many 12 1 9", ["nodes: expected a whole number from 1 to 1000"]),
    "no nodes": ("1 zegox 0 12 1 9", ["nodes: expected a whole number from 1"]),
    "too many nodes": ("1 zegox 10000001 12 1 9", ["to 10000000, found '10000001'"]),
    "no cores": ("1 zegox 48 0 1 9", ["cores per node: expected a whole number from 1 to"]),
    "negative cores": ("1 zegox 48 -12 1 9", ["cores per node: expected", "found '-12'"]),
    "a part of a core": ("1 zegox 48 1.5 1 9", ["cores per node: expected", "found '1.5'"]),
    "no memory": ("1 zegox 48 12 1 0", ["memory per node in KiB: expected", "found '0'"]),
    "memory with a unit": ("1 zegox 48 12 1 9GB", ["memory per node in KiB", "found '9GB'"]),
    "underscore digits": ("1 zegox 48 12 1 9_0", ["memory per node in KiB", "found '9_0'"]),
    "digits beyond ASCII": ("1 zegox ٤٨ 12 1 9", ["nodes: expected a whole number"]),
    "memory beyond 2^53 bytes": (f"1 zegox 1 1 1 {2**43 + 1}", ["to 8796093022208, found"]),
    "a number of many digits": ("1 zegox 1 1 1 " + "9" * 5000, ["memory per node in KiB"]),
    "a speed in words": ("1 zegox 48 12 fast 9", ["speed: expected a number, found 'fast'"]),
    "a negative speed": ("1 zegox 48 12 -1 9", ["speed: expected a number, found '-1'"]),
    "a bad name": ("1 ze/gox 48 12 1 9", ["expected a cluster name", "found 'ze/gox'"]),
    "a name that starts badly": ("1 .zegox 48 12 1 9", ["expected a cluster name"]),
    "a name beyond ASCII": ("1 žegox 48 12 1 9", ["expected a cluster name"]),
    "a name twice": ("1 zewura 48 12 1 9", ["'zewura' is given twice; first in line 2"]),
    "a NUL": ("1 zegox\x00 48 12 1 9", ["expected a cluster name", "'zegox\\x00'"]),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_line_is_named(kind: str, tmp_path: Path) -> None:
    """A damaged line gives one finding, which names it and says what was expected."""
    line, parts = BAD[kind]
    good = GOOD.splitlines()[0]
    path = write(tmp_path, f"\n{good}\n\n{line}\n")
    (finding,) = findings_of(path)
    assert (finding.place, finding.rule) == (Place(str(path), 4), "bad-machine")
    assert all(part in finding.message for part in parts)
    assert "\n" not in str(finding)


def test_all_bad_lines_are_named_at_once(tmp_path: Path) -> None:
    """Every error of a file is told, several of a line too, in the order of the file."""
    text = "0 a 0 0 x 0\n1 b 1 1 1 1\nnonsense\n2 b 1 1 1 1\n3 c/d 1 1 1 -1\n4 b 1 1 1 1\n"
    findings = findings_of(write(tmp_path, text))
    assert [f.place.line for f in findings if f.place] == [1, 1, 1, 1, 3, 4, 5, 5, 6]
    assert "first in line 2" in findings[-1].message


@pytest.mark.parametrize("text", ["", "\n\n", " \t\r\n", "\ufeff"])
def test_no_clusters(text: str, tmp_path: Path) -> None:
    """A file without clusters is refused."""
    (finding,) = findings_of(write(tmp_path, text))
    assert (finding.message, finding.rule) == (
        "expected at least one cluster, found none",
        "bad-machine",
    )


def test_other_encodings(tmp_path: Path) -> None:
    """A file in another encoding is refused, with the line of the first byte that is wrong."""
    path = write(tmp_path, GOOD.encode() + "2 ž 1 1 1 1\n".encode("latin2"))
    (finding,) = findings_of(path)
    assert (finding.rule, finding.place) == ("unreadable-file", Place(str(path), 3))
    assert len(findings_of(write(tmp_path, GOOD.encode("utf-16")))) == 1


def test_no_file(tmp_path: Path) -> None:
    """A file that is not there, or a folder, is refused."""
    assert findings_of(tmp_path / "none.machines")[0].rule == "unreadable-file"
    assert "is a directory" in findings_of(tmp_path)[0].message


@pytest.mark.parametrize("separator", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_only_line_feeds_end_lines(separator: str, tmp_path: Path) -> None:
    """Line numbers are those of an editor, whatever stands within the lines."""
    path = write(tmp_path, f"0 a 1 1 1 1 {separator}\nnonsense\n")
    findings = findings_of(path)
    assert findings[-1].place == Place(str(path), 2)


@tries(200)
@given(data=st.binary(max_size=60) | st.text("0123456789 \tab\n.-", max_size=60))
def test_any_file_is_read_or_refused(
    data: str | bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever a file holds, it gives clusters or an error of its own."""
    path = write(tmp_path_factory.getbasetemp(), data)
    try:
        clusters = read_machines(path)
    except InputError as error:
        assert error.findings
    else:
        assert clusters
        assert all(c.nodes and c.cores and c.memory for c in clusters)


def validated(
    folder: Path, data: str | bytes, capsys: pytest.CaptureFixture[str], text: str = SCENARIO
) -> tuple[int, list[str]]:
    """Validate a scenario that names a file of machines; return the exit code and the lines."""
    write(folder, data)
    scenario = folder / "scenario.yaml"
    scenario.write_text(text)
    code = main(["validate", str(scenario)])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err + captured.out
    assert "internal error" not in captured.err + captured.out
    return code, (captured.out + captured.err).splitlines()


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_line_is_named_by_validate(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The place is the file of machines and its line, not that of the scenario."""
    line, parts = BAD[kind]
    code, said = validated(
        tmp_path, f"{GOOD.splitlines()[0]}\n{line}\n".replace("0\t", "0 "), capsys
    )
    assert code == 1
    assert said[0].startswith(f"{tmp_path / 'sc.machines'}:2: error: ")
    assert parts[0] in said[0] or "first in line 1" in said[0]
    assert said[0].endswith("[bad-machine]")
    assert said[1:] == ["1 file, 1 error, 0 warnings"]


def test_what_only_a_scenario_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A name that is too long, and totals beyond 64 bits, are placed in the file of machines."""
    code, said = validated(tmp_path, f"0 a 1 1 1 1\n1 {'b' * 101} 1 1 1 1\n", capsys)
    assert code == 1
    assert said[0].startswith(f"{tmp_path / 'sc.machines'}:2:1: error: system.groups[1].name: ")
    assert said[1] == "1 file, 1 error, 0 warnings"
    code, said = validated(tmp_path, f"0 a 10000000 1 1 {2**43}\n", capsys)
    assert code == 1
    assert said[0].startswith(f"{tmp_path / 'sc.machines'}:1:1: error: system.groups: ")
    assert "more than 2^63 - 1 of mem" in said[0]


def test_all_is_told_by_validate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All errors of the file come together with those of the scenario."""
    text = SCENARIO.replace("easy", "eazy")
    code, said = validated(tmp_path, "0 a 0 1 1 0\nnonsense\n", capsys, text)
    assert code == 1
    rules = [line.rpartition("[")[2] for line in said[:-1]]
    assert rules == ["unknown-plugin]", "bad-machine]", "bad-machine]", "bad-machine]"]


def test_a_good_file_makes_a_system(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Groups with core and mem, memory counted in a unit that loses nothing of it."""
    code, said = validated(tmp_path, GOOD, capsys)
    assert code == 0, said
    system = load_scenario(tmp_path / "scenario.yaml").system.build()
    assert system.resource_types == ("core", "mem")
    assert [(g.name, g.count, g.resources) for g in system.groups] == [
        (c.name, c.nodes, {"core": c.cores, "mem": c.memory}) for c in CLUSTERS
    ]
    assert sum(system.totals[1:]) * system.units["mem"] == sum(c.nodes * c.memory for c in CLUSTERS)


MEMORIES = st.integers(1, 2**30) | st.integers(1, 2**20).map(lambda mib: mib * KIB)


@tries(50)
@given(memories=st.lists(MEMORIES, min_size=1, max_size=4), data=st.data())
def test_no_request_is_lost_or_blown_up(
    memories: list[int], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever a node can hold still fits, and a request grows by less than a MiB."""
    folder = tmp_path_factory.getbasetemp()
    write(folder, "".join(f"0 c{n} 1 4 1 {memory}\n" for n, memory in enumerate(memories)))
    (folder / "scenario.yaml").write_text(SCENARIO)
    system = load_scenario(folder / "scenario.yaml").system.build()
    asked = data.draw(st.integers(1, max(memories) * KIB))
    assert not system.loses({"mem": asked})
    assert 0 <= system.declared(system.request({"mem": asked}))["mem"] - asked < 2**20


def test_jobs_share_a_node_of_the_only_cluster(tmp_path: Path) -> None:
    """With one cluster, half a node's memory is half a node's memory."""
    write(tmp_path, "0 a 2 8 1 33554432\n")
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    system = load_scenario(tmp_path / "scenario.yaml").system.build()
    half = system.request({"core": 1, "mem": 2**34})
    assert 2 * half[1] == system.capacity[0, 1]
