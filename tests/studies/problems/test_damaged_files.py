# ruff: noqa: E501 (a table of edits and messages)
"""A file at fault gets one message: the line, what was expected and what was found."""

import gzip
import json
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.scenario import load_scenario
from hpcsched.studies.problems.problem_files import InstancesFile, record
from tests.studies.problems.samples import small, tiny


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> Path:
    """A file: line 2 is at 0, line 3 at 9, line 4 at 10, where two jobs run."""
    folder = tmp_path_factory.mktemp("good")
    record(load_scenario(tiny(folder)), folder / "good.jsonl.gz")
    return folder / "good.jsonl.gz"


@pytest.fixture(scope="module")
def node_level(tmp_path_factory) -> Path:
    """A file by node, with more than one resource type."""
    path = tmp_path_factory.mktemp("nodes") / "good.jsonl.gz"
    record(small(), path)
    return path


def read(path):
    """Read all of a file; return what is said of it, after its name."""
    with pytest.raises(InputError) as caught:
        list(InstancesFile(path).problems())
    (finding,) = caught.value.findings
    assert "\n" not in str(finding)
    return str(finding).removeprefix(f"{path}:").replace("error: ", "")


def change(path, number, edit, folder):
    """Return a copy in which the object in a line, from 1, was edited; or replaced by bytes."""
    lines = gzip.decompress(path.read_bytes()).splitlines()
    content = json.loads(lines[number - 1])
    edited = edit(content)
    lines[number - 1] = edited if isinstance(edited, bytes) else json.dumps(content).encode()
    changed = folder / "changed.jsonl.gz"
    changed.write_bytes(gzip.compress(b"".join(line + b"\n" for line in lines)))
    return changed


def put(*keys_and_value):
    """Return an edit that puts a value at a path of keys."""
    *keys, last, value = keys_and_value

    def edit(content):
        for key in keys:
            content = content[key]
        content[last] = value

    return edit


def drop(*keys):
    """Return an edit that takes a value away."""
    *keys, last = keys

    def edit(content):
        for key in keys:
            content = content[key]
        del content[last]

    return edit


@pytest.mark.parametrize(
    ("number", "edit", "message"),
    [
        (1, lambda _: b"not json", "in the header, expected JSON, found a fault in it: expected ident at line 1 column 2"),
        (1, lambda _: b"[1]", "in the header, expected a mapping of keys, found a list"),
        (1, put("format", "swf"), "in the header, format: expected 'hpcsched-instances', found 'swf'"),
        (1, put("version", 2), "in the header, version: expected 3, found 2"),
        (1, drop("version"), "in the header, the key 'version' is missing"),
        (1, put("version", True), "in the header, version: expected 3, found true"),
        (1, drop("scenario"), "in the header, the key 'scenario' is missing"),
        (1, put("system", "groups", 0, "count", 0), "in the header, system.groups[0].count: expected a value of at least 1, found 0"),
        (1, put("uniform_request", [1, 1]), "in the header, uniform_request: expected amounts of core, or null as for a system with shared resources, found [1, 1]"),
        (1, put("scenario", "name: x\n"), "the scenario in the header cannot be used: system: the key 'system' is missing"),
        (2, lambda _: b"{", "expected JSON, found a fault in it: EOF while parsing an object at line 2 column 0"),
        (2, lambda _: b"\xff", "expected JSON, found a fault in it: expected value at line 1 column 1"),
        (3, lambda _: b"7", "expected a mapping of keys, found 7"),
        (3, drop("now"), "the key 'now' is missing"),
        (3, put("then", 1), "there is no key 'then'"),
        (3, put("now", "9"), "now: expected a whole number, found '9'"),
        (3, put("now", 9.5), "now: expected a whole number, found 9.5"),
        (3, put("round", True), "round: expected a whole number, found true"),
        (3, put("queue", None), "queue: expected a list, found nothing"),
        (3, put("jobs", 0, "units", 0), "jobs[0].units: expected a value of at least 1, found 0"),
        (3, put("jobs", 0, "units", 9), "jobs[0]: units: expected at most 8, which fit on the system, found 9"),
        (3, drop("jobs", 0, "requested_time"), "jobs[0]: the key 'requested_time' is missing"),
        (3, put("jobs", 0, "submit_time", 99), "jobs[0]: expected a submit time of at most now, 9, found 99"),
        (3, put("jobs", 0, "unit_request", [1, 1]), "jobs[0]: unit_request: expected amounts of core, found [1, 1]"),
        (3, put("jobs", 0, "unit_request", [2]), "jobs[0]: expected [1] per unit on any node, as the header says of all"),
        (3, put("jobs", 0, "exclusive", True), "jobs[0]: expected [1] per unit on any node, as the header says of all"),
        (3, put("queue", [3, 3]), "expected each job once, queued or running, found job 3 twice"),
        (3, put("queue", [3, 1]), "expected each job once, queued or running, found job 1 twice"),
        (3, put("queue", [3, 8]), "expected a job of this line or the one before, found job 8"),
        (3, put("running", 0, 0, 8), "expected a job of this line or the one before, found job 8"),
        (3, put("running", 0, [1]), "running[0]: the key 1 is missing"),
        (3, put("running", 0, [1, 9]), "running[0]: expected a job with a place and a predicted end of at least 10, found job 1 with 9"),
        (3, put("running", [[1, 60], [2, 50]]), "running[1]: expected a job with a place and a predicted end of at least 60, found job 2 with 50"),
        (3, put("placed", 0, "job_id", 3), "placed[0]: expected a running job, started up to 9, found job 3, started at 0"),
        (3, put("placed", 0, "start_time", 10), "placed[0]: expected a running job, started up to 9, found job 1, started at 10"),
        (3, put("placed", 1, "nodes", [0, 1]), "placed[1]: job 2, node node-0: 1 core asked for, 0 free"),
        (3, put("placed", 1, "node_units", [1, 2]), "placed[1]: job 2: expected 2 units to be placed, found 3"),
        (3, put("placed", 1, "nodes", [2, 9]), "placed[1]: job 2: nodes must be from 0 to 3, found (2, 9)"),
        (3, drop("placed", 1, "nodes"), "placed[1]: the key 'nodes' is missing"),
        (3, drop("placed", 1), "running[1]: expected a job with a place and a predicted end of at least 9000, found job 2 with 9000"),
        (4, put("jobs", []), "expected a job of this line or the one before, found job 4"),
    ],
    ids=lambda value: value[:60] if isinstance(value, str) else "",
)  # fmt: skip
def test_a_line_at_fault(number, edit, message, good, tmp_path):
    """The line is named, and what is wrong with it."""
    assert read(change(good, number, edit, tmp_path)) == f"{number}: {message} [bad-instances]"


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (put("jobs", 0, "node_groups", ["tpu"]), "jobs[0]: units: expected at most 0, which fit on the system, found 1"),
        (put("jobs", 0, "allowed_nodes", [18]), "jobs[0]: allowed_nodes: expected nodes from 0 to 17"),
        (put("jobs", 0, "unit_request", [0, 0, 0]), "jobs[0]: unit_request: expected amounts of core, mem, gpu, found [0, 0, 0]"),
        (put("jobs", 0, "unit_request", [33, 0, 0]), "jobs[0]: units: expected at most 0, which fit on the system, found 1"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)  # fmt: skip
def test_a_job_that_cannot_run(edit, message, node_level, tmp_path):
    """It would never find room on this system."""
    assert read(change(node_level, 2, edit, tmp_path)) == f"2: {message} [bad-instances]"


def test_a_place_at_fault(node_level, tmp_path):
    """Nodes are told with the units on them, and have room."""
    lines = gzip.decompress(node_level.read_bytes()).splitlines()
    number = next(n for n, line in enumerate(lines, 1) if b'"placed"' in line)
    for edit, message in (
        (put("placed", 0, "nodes", [18]), "nodes must be from 0 to 17"),
        (put("placed", 0, "node_units", [900]), "units to be placed, found 900"),
    ):
        assert message in read(change(node_level, number, edit, tmp_path))


def test_bytes_at_fault(good, tmp_path):
    """What is no gzip, is cut off, is empty or was changed is found out."""
    path = tmp_path / "changed.jsonl.gz"
    data = good.read_bytes()
    for changed, message in (
        (b"name: tiny\n", "1: expected a gzip file, found other bytes [bad-instances]"),
        (b"", "1: in the header, expected JSON, found a fault in it: EOF while parsing a value at line 1 column 0 [bad-instances]"),
        (gzip.compress(b""), "1: in the header, expected JSON, found a fault in it: EOF while parsing a value at line 1 column 0 [bad-instances]"),
        (gzip.compress(b"[" * 100_000), "1: in the header, expected JSON, found a fault in it: recursion limit exceeded at line 1 column 202 [bad-instances]"),
        (data[:-9], "expected the end of the gzip data, found the end of the file: it is cut off [bad-instances]"),
        (data[:60], "expected the end of the gzip data, found the end of the file: it is cut off [bad-instances]"),
        (data[:-8] + b"\0" * 8, "expected data that can be unpacked, found other bytes [bad-instances]"),
    ):  # fmt: skip
        path.write_bytes(changed)
        assert read(path).endswith(message)


def test_every_changed_byte_is_one_message(good, tmp_path):
    """Whatever byte is changed, there is one message or the problems are as they were."""
    path = tmp_path / "changed.jsonl.gz"
    data = good.read_bytes()
    count = len(list(InstancesFile(good).problems()))
    for position in range(0, len(data), 7):
        path.write_bytes(data[:position] + bytes([data[position] ^ 0x55]) + data[position + 1 :])
        try:
            found = len(list(InstancesFile(path).problems()))
        except InputError as error:
            assert len(error.findings) == 1
        else:
            assert found == count


def test_a_file_that_is_not_there(tmp_path):
    """Or is a folder."""
    assert read(tmp_path / "none").endswith(
        "it cannot be read: no such file or directory [unreadable-file]"
    )
    assert read(tmp_path).endswith("it cannot be read: is a directory [unreadable-file]")


def test_damage_behind_what_is_read_does_no_harm(good, tmp_path):
    """Only as many lines are read as problems are wanted."""
    path = change(good, 3, lambda _: b"{", tmp_path)
    assert len(list(InstancesFile(path).problems(limit=1))) == 1
