"""An experiment of a hundred cells that is killed three times goes on where it was."""

from pathlib import Path

import pytest

from benchmarks import cells


@pytest.mark.slow
def test_a_killed_experiment_is_resumed(tmp_path: Path) -> None:
    """It ends with the bytes of one that ran in one go; nothing is lost or left over."""
    file, whole, killed = (
        cells.write_experiment(tmp_path, 100),
        tmp_path / "whole",
        tmp_path / "kill",
    )
    command = [str(cells.COMMAND), "experiment", str(file), "--quiet", "--out"]
    cells.measure("run", [*command, str(whole)], 100)
    left = [cells.kill_at([*command, str(killed)], killed, place) for place in (5, 40, 75)]
    assert 5 <= left[0] < left[1] < left[2] < 100
    cells.measure("resumed", [*command, str(killed)], 100)
    assert cells.complete(whole) == 100
    assert cells.differences(whole, killed) == []
