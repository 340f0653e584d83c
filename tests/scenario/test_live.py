"""A real cluster in a scenario: what does not go with it is refused, with its place."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.scenario import load_scenario

START = """\
name: site
system:
  groups:
    - {name: c, count: 2, resources: {core: 4}}
trace: {source: lublin99, jobs: 5}
dispatcher: easy
live:
  workload_manager: {name: state-file, path: cluster.json}
  partitions: [main]
  nodes: {c: "c[1-2]"}
"""

FAULTS = {
    "partitions": (START + "partitions:\n  - {name: main}\n", 12),
    "outages": (START + "outages:\n  maintenance:\n    - {start: 1h, duration: 1h}\n", 12),
    "pools": (
        START.replace(
            "trace:",
            "  shared_resources:\n    - {name: power, capacity: 9, draw: {per_job: 1}}\ntrace:",
        ),
        6,
    ),
    "offline": (START + "predictor: actual\nsimulation: {mode: offline}\n", 12),
    "oracle": (START + "predictor: actual\n", 11),
    "no names": (START.replace("nodes: {c: ", "nodes: {d: "), 10),
    "too few names": (START.replace("c[1-2]", "c[1-1]"), 10),
}


def write(folder: Path, text: str) -> Path:
    """Write a scenario and the file that it names."""
    (folder / "cluster.json").write_text("{}")
    path = folder / "site.yaml"
    path.write_text(text)
    return path


def test_a_live_scenario_is_read(tmp_path: Path) -> None:
    """What the faults below begin with has none."""
    live = load_scenario(write(tmp_path, START)).live
    assert live is not None
    assert live.nodes == {"c": "c[1-2]"}


LICENCES = "  shared_resources:\n    - {name: license_a, capacity: 9, draw: as_the_trace_says%s}\n"


def test_licences_go_with_a_cluster(tmp_path: Path) -> None:
    """The cluster tells what jobs draw and how much there is; declared changes are refused."""
    assert load_scenario(write(tmp_path, START.replace("trace:", LICENCES % "" + "trace:"))).live
    changing = LICENCES % ", changes: [{at: 1h, capacity: 3}]"
    with pytest.raises(InputError, match="no 'changes'"):
        load_scenario(write(tmp_path, START.replace("trace:", changing + "trace:")))


@pytest.mark.parametrize("fault", FAULTS)
def test_what_does_not_go_with_a_cluster_is_refused(tmp_path: Path, fault: str) -> None:
    """The message names the line."""
    text, line = FAULTS[fault]
    with pytest.raises(InputError) as refused:
        load_scenario(write(tmp_path, text))
    places = {
        finding.place.line: finding.rule for finding in refused.value.findings if finding.place
    }
    assert places[line] in ("not-live", "unknown-group")


@pytest.mark.parametrize("value", [".inf", ".nan", "86401", "2d", "0", "-1", str(2**60)])
def test_a_release_that_never_comes_is_refused(tmp_path: Path, value: str) -> None:
    """The dead man's switch has a time, of a day at most; the message names the key's line."""
    with pytest.raises(InputError) as refused:
        load_scenario(write(tmp_path, f"{START}  release_after: {value}\n"))
    (finding,) = refused.value.findings
    assert finding.place is not None
    assert finding.place.line == 11
    assert finding.key == "live.release_after"
