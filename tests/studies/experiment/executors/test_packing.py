"""Folders are sent between machines, and paths of the other machine are replaced."""

import json
from pathlib import Path

from hpcsched.runs.manifest import file_hashes, read_manifest
from hpcsched.studies.experiment.executors.packing import pack, put_back_paths, unpack
from tests.runs.hand_made import write_run


def test_packing(tmp_path: Path) -> None:
    """What was packed comes out the same; without a run the log alone does."""
    (tmp_path / "a" / "run").mkdir(parents=True)
    (tmp_path / "a" / "run" / "file").write_bytes(b"\0\1")
    (tmp_path / "a" / "log").write_text("said\n")
    for run in (True, False):
        target = tmp_path / f"b-{run}"
        target.mkdir()
        unpack(pack(tmp_path / "a", run=run), target)
        assert (target / "log").read_text() == "said\n"
        assert (target / "run").exists() is run
    assert (tmp_path / "b-True" / "run" / "file").read_bytes() == b"\0\1"


def test_a_run_with_paths_put_back_holds_its_hashes(tmp_path: Path) -> None:
    """The scenario with the paths of this machine is the one that the manifest has the hash of."""
    made = write_run(tmp_path / "run").path
    there = json.loads((made / "manifest.json").read_text())["trace_files"][0]["path"]
    put_back_paths(made, "name: back\n", {there: "/here/trace.txt"})
    manifest = read_manifest(made)
    assert manifest.files == file_hashes(made)
    assert manifest.trace_files[0].path == "/here/trace.txt"
