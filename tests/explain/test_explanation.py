"""Explanations with facts from the trace, and what a result says of itself."""

from pathlib import Path

import pytest

import hpcsched
from hpcsched.explain.explanation import explain_run
from tests.runs.small_scenario import write_scenario


@pytest.fixture(name="result")
def _result(tmp_path: Path) -> hpcsched.RunResult:
    scenario = hpcsched.load_scenario(write_scenario(tmp_path), ["observers=[reasons]"])
    return hpcsched.run(scenario, tmp_path / "run")


def test_a_job_that_waited(result: hpcsched.RunResult) -> None:
    """Job 2 needs both nodes, on which job 1 runs until second 60."""
    explanation = result.explain(2)
    assert explanation == explain_run(result.directory, 2)
    assert explanation.started == 60
    assert "(55 s after its submission)" in str(explanation)


def test_without_its_trace(result: hpcsched.RunResult) -> None:
    """Records alone explain the job where the log has gone."""
    (result.directory.path.parent / "log.swf").unlink()
    assert result.explain(2).started == 60


def test_a_result_tells_its_figures(result: hpcsched.RunResult) -> None:
    """Waits are 0, 55, 144 and 143 s: two jobs of two nodes go first, then the others at once."""
    assert result.metrics["mean_wait_time"] == (0 + 55 + 144 + 143) / 4
    assert result.objective == result.metrics["mean_bounded_slowdown"]
    assert result.verify().ok
    html = result._repr_html_()
    assert html.startswith("<pre>small: 4 records read, 4 jobs submitted: 4 completed")


def test_a_scenario_from_a_dictionary(tmp_path: Path) -> None:
    """It says what the file says; a fault is told with its key."""
    path = write_scenario(tmp_path)
    content = {
        "name": "small",
        "system": {"groups": [{"name": "node", "count": 2, "resources": {"core": 1}}]},
        "trace": {"source": "swf", "path": str(tmp_path / "log.swf")},
        "predictor": "requested-time",
        "dispatcher": {"name": "list", "order": "fcfs"},
    }
    given = hpcsched.run(content, tmp_path / "of-dictionary")
    assert given.metrics == hpcsched.run(path, tmp_path / "of-file").metrics
    content["sytsem"] = content.pop("system")
    with pytest.raises(hpcsched.InputError) as raised:
        hpcsched.load_scenario(content)
    assert "sytsem" in {finding.key for finding in raised.value.findings}


def test_a_dictionary_with_another_object(tmp_path: Path) -> None:
    """What YAML does not have is refused like any other fault."""
    content = {"name": "0o17", "system": {"groups": []}}
    with pytest.raises(hpcsched.InputError) as raised:
        hpcsched.load_scenario(content)
    assert "name" not in {finding.key for finding in raised.value.findings}
    with pytest.raises(hpcsched.InputError, match="Object of type PosixPath"):
        hpcsched.load_scenario({"name": "small", "trace": {"path": tmp_path}})
