"""The machine in a log's header, against the system of a scenario."""

from pathlib import Path

import pytest

from hpcsched import cli
from hpcsched.workload.readers.swf import HeaderMachine, SwfParams, header_machine, other_machine
from tests.builders import alike

RECORD = "1 0 -1 60 1 -1 -1 1 90 -1 1 1 1 1 1 1 -1 -1\n"


def test_comments() -> None:
    """What is behind a number does not matter, and what is missing is 0."""
    stated = header_machine(["Computer: x", "MaxNodes: 338 (batch partition; 512 total)"])
    assert stated == HeaderMachine(338, 0)


@pytest.mark.parametrize(
    ("header", "nodes", "cores", "differs"),
    [
        ("; MaxNodes: 4\n; MaxProcs: 32\n", 4, 1, False),
        ("; MaxNodes: 4\n; MaxProcs: 8\n", 4, 4, False),
        ("; MaxProcs: 7\n", 4, 1, True),
        ("; MaxProcs: 7\n", 4, 0, False),
        ("; MaxNodes: 3\n; MaxProcs: 16\n", 16, 8, False),
        ("; MaxNodes: 3\n; MaxProcs: 15\n", 16, 8, True),
    ],
)
def test_processors_of_a_system(
    header: str, nodes: int, cores: int, differs: bool, tmp_path: Path
) -> None:
    """Nodes of 8 cores; where each processor has one of its own, nodes are not compared."""
    path = tmp_path / "log.swf"
    path.write_text(header)
    found = list(other_machine(SwfParams(path=str(path)), alike(nodes, core=8), cores))
    assert bool(found) == differs


@pytest.mark.parametrize(
    ("header", "count", "message"),
    [
        ("; MaxNodes: 2\n; MaxProcs: 16\n", 2, None),
        ("", 3, None),
        ("; MaxProcs: 16\n", 3, "MaxProcs: 16, and the system has 24 processors"),
        (
            "; MaxNodes: 2\n; MaxProcs: 16\n",
            3,
            "MaxNodes: 2, and the system has 3 nodes; MaxProcs: 16, and the system has 24"
            " processors",
        ),
    ],
)
@pytest.mark.parametrize("source", ["swf", "alea"])
def test_what_is_told(
    header: str,
    count: int,
    message: str | None,
    source: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`validate` and `run` warn of a mismatch at the path of the trace."""
    more = " {1} q 1:ppn=1" if source == "alea" else ""
    (tmp_path / "log").write_text(header + RECORD.replace("\n", f"{more}\n"))
    path = tmp_path / "scenario.yaml"
    path.write_text(
        "name: machine\n"
        f"system: {{groups: [{{name: n, count: {count}, resources: {{core: 8, mem: 1GiB}}}}]}}\n"
        f"trace: {{source: {source}, path: log}}\n"
        "dispatcher: easy\n"
    )
    column = len(f"trace: {{source: {source}, path: ") + 1
    expected = (
        f"{path}:3:{column}: warning: trace.path: the log's header says {message};"
        " is it the system of this log? [other-machine]\n"
        if message
        else ""
    )
    if source == "alea":
        path.write_text(path.read_text().replace("path: log", "path: log, missing_memory: zero"))
    assert cli.main(["validate", str(path)]) == 0
    assert (
        capsys.readouterr().out
        == f"{expected}1 file, 0 errors, {'1 warning' if message else '0 warnings'}\n"
    )
    assert cli.main(["run", str(path), "--out", str(tmp_path / "run")]) == 0
    assert capsys.readouterr().err == expected
