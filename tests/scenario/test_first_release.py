"""Scenarios of release 0.1.0 are valid, with warnings alone, and mean what they meant.

`release_0_1_0` holds them as they were, but for those of dispatchers that came later.
"""

from pathlib import Path
from shutil import copy

import pytest

from hpcsched.scenario.loading import read_scenario
from hpcsched.scenario.review import review

OLD = Path(__file__).parent / "release_0_1_0"
NOW = Path(__file__).parents[2] / "scenarios"


@pytest.mark.parametrize("path", sorted(OLD.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_scenario_of_the_first_release(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read as the present scenario of its name, which has present names."""
    monkeypatch.setenv("HPCSCHED_TRACES", str(tmp_path))
    (tmp_path / "traces").symlink_to(NOW / "traces")
    old = read_scenario(Path(copy(path, tmp_path)))
    assert {finding.severity for finding in review(old)} <= {"warning"}
    present = read_scenario(Path(copy(NOW / path.name, tmp_path)))
    assert not present.former
    assert old.scenario == present.scenario
