"""Devices in a scenario: what is declared, and what does not go together."""

import pytest

from hpcsched.audit.auditing import audit_directory
from hpcsched.errors import InputError
from hpcsched.runs.assembly import assemble
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario

SCENARIO = """\
name: s
system:
  groups:
    - {name: a, count: 1, resources: {core: 4, gpu: {count: 2, model: A}}}
    - {name: b, count: 2, resources: {core: 4}}
trace: {source: swf, path: jobs.swf}
dispatcher: easy
"""
TABLE = "{source: table, path: jobs.csv, requests: {core: cores, gpu: gpus}}"


def load(folder, old="", new=""):
    """Load the scenario with a change."""
    path = folder / "scenario.yaml"
    path.write_text(SCENARIO.replace(old, new) if old else SCENARIO)
    (folder / "jobs.swf").write_text("1 0 -1 5 1 -1 -1 1 5 -1 1 1 1 1 1 1 -1 -1\n")
    return load_scenario(path)


def test_a_system_with_devices(tmp_path):
    """Amounts are counted in shares, and each device is known."""
    system = load(tmp_path).system.build()
    assert system.resource_types == ("core", "gpu")
    assert system.totals == (12, 2000)
    assert system.device_capacity.tolist() == [[1000, 1000], [0, 0], [0, 0]]
    assert [group.model for group in system.groups] == ["A", None]
    assert system.request({"gpu": 2}) == (0, 2000)
    assert system.declared((1, 300)) == {"core": 1, "gpu": 0.3}


def test_a_system_with_mig_slices(tmp_path):
    """Each GPU has 8 memory slices; other nodes may have whole GPUs."""
    new = "gpu: {count: 2, profile: a100-80gb}}}\n    - {name: w, count: 1, resources: {"
    new += "gpu: {count: 1}"
    system = load(tmp_path, "gpu: {count: 2, model: A}", new).system.build()
    assert system.totals == (12, 3 * 112)
    assert system.device_capacity.tolist() == [[14] * 16, [14] * 8 + [0] * 8, [0] * 16, [0] * 16]
    assert [group.sliced for group in system.groups] == [True, False, False]
    assert [one.name for one in system.devices.profiles][:3] == ["1g.10gb", "1g.20gb", "2g.20gb"]


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ("{core: 4, gpu: 1}", "expected devices ({count: …, shares: 1000}), as in other groups"),
        ("{core: 4, gpu: {count: 1, shares: 10}}", "expected gpu with 1000 shares, as in the"),
        ("{core: 4, mic: {count: 1}}", "expected gpu with 1000 shares"),
        (
            "{core: 4, gpu: {count: 1, profile: h100-80gb, shares: 9}}",
            "expected no shares beside MIG",
        ),
        ("{core: 4, gpu: {count: 9, profile: h100-80gb}}", "expected at most 8 devices beside MIG"),
        ("{core: 4, gpu: {count: 63}}", "expected a value of at most 62, found 63"),
    ],
)
def test_devices_that_differ(tmp_path, new, message):
    """One resource type has devices, of one size, and wherever it is offered."""
    with pytest.raises(InputError) as caught:
        load(tmp_path, "resources: {core: 4}}", f"resources: {new}}}")
    assert message in str(caught.value)


def test_slices_of_two_kinds(tmp_path):
    """Profiles of one name would differ by node."""
    new = "{core: 4, gpu: {count: 1, profile: a100-40gb}}}\n    - {name: c, count: 1, resources: "
    new += "{gpu: {count: 1, profile: a100-80gb}}}"
    with pytest.raises(InputError, match="expected the MIG slices of the first group with such"):
        load(tmp_path, "resources: {core: 4}}", f"resources: {new}")


def write_jobs(folder, asked):
    """Write a table of jobs that ask for these devices in turn."""
    lines = ["submit_time,run_time,requested_time,units,cores,gpus"]
    lines += [
        f"{k},{5 + k % 7},{9 + k % 5},{1 + k % 2},1,{asked[k * k % len(asked)]}" for k in range(40)
    ]
    (folder / "jobs.csv").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    "changes",
    [
        ["dispatcher={name: hyper, least_jobs: 5}", "observers=[reasons, cpu-memory]"],
        ["dispatcher=conservative", "observers=[reasons]"],
        ["dispatcher=order-search", "observers=[reasons]"],
        ["dispatcher=pcp4", "observers=[reasons]"],
        ["dispatcher=joint-now"],
        ["dispatcher=cp"],
    ],
)
@pytest.mark.parametrize("of", ["shares", "mig"])
def test_dispatchers_in_python_keep_to_devices(tmp_path, changes, of):
    """All jobs run, and the audit finds no device or slice taken twice."""
    load(tmp_path)
    asked = ["0.3", "0.7", "0", "2", "0.5", "1"]
    text = SCENARIO.replace("{source: swf, path: jobs.swf}", TABLE)
    if of == "mig":
        asked = ["1g.5gb", "3g.20gb", "0", "2", "1g.10gb", "4g.20gb", "2g.10gb"]
        text = text.replace("model: A", "profile: a100-40gb")
    write_jobs(tmp_path, asked)
    path = tmp_path / "scenario.yaml"
    path.write_text(text)
    done = run(load_scenario(path, changes), tmp_path / "run")
    report = audit_directory(done.directory)
    assert report.ok, "\n".join(report.lines())
    assert set(done.directory.jobs.read("state")["state"].to_pylist()) == {"completed"}


OFFLINE = ["dispatcher=order-search", "predictor=actual", "simulation={mode: offline}"]


@pytest.mark.parametrize(
    ("changes", "found", "of"),
    [
        (["dispatcher=hyper"], "the dispatcher hyper", "scores"),
        (["observers=[reasons]"], "the observer reasons", "scores"),
        (["observers=[cpu-memory]"], "the observer cpu-memory", "scores"),
        (OFFLINE, "planning off-line", "scores"),
        (OFFLINE, "planning off-line", "devices"),
    ],
)
def test_what_does_not_know_devices_or_scores_is_refused(tmp_path, changes, found, of):
    """Allocators by scores are the core's alone: a scenario is refused beforehand."""
    path = tmp_path / "scenario.yaml"
    load(tmp_path)
    if of == "scores":
        path.write_text(SCENARIO.replace(", gpu: {count: 2, model: A}", ""))
        easy = "{name: easy, allocator: random}"
        rule = {"dispatcher=hyper": f"dispatcher={{name: hyper, portfolio: [{easy}, list]}}"}
        rule["dispatcher=order-search"] = "dispatcher={name: order-search, allocator: random}"
        changes = [rule.get(change, change) for change in changes]
        if not any(change.startswith("dispatcher") for change in changes):
            changes.append(f"dispatcher={easy}")
    with pytest.raises(InputError, match=f"found .*{found}"):
        assemble(load_scenario(path, changes)).build_all()
