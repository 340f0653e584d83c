"""SDSC-SP2 as the program of RLScheduler reads it."""

import gzip
from pathlib import Path

from rlscheduler_log import LOG, main


def test_a_job_without_a_run_time_runs_for_ten_seconds(tmp_path: Path) -> None:
    """Other records stay as they are, those of zero run time too; comments are left out."""
    records = [
        "1 0 5 -1 8 -1 -1 8 3600 -1 5 1 1 1 1 -1 -1 -1",
        "2 9 5 0 8 -1 -1 8 3600 -1 5 1 1 1 1 -1 -1 -1",
    ]
    with gzip.open(tmp_path / LOG, "wt", encoding="utf-8") as log:
        log.write("; MaxNodes: 128\n" + "\n".join(records) + "\n")
    assert main([str(tmp_path), str(tmp_path)]) == 0
    written = (tmp_path / "SDSC-SP2.swf").read_text(encoding="utf-8").splitlines()
    assert written == ["1 0 5 10 8 -1 -1 8 3600 -1 5 1 1 1 1 -1 -1 -1", records[1]]
