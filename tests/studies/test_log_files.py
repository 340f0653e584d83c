"""Scenarios for the conversion of logs, and the example."""

from pathlib import Path

import pytest

from hpcsched.cli import main
from hpcsched.errors import InputError
from hpcsched.runs.assembly import assemble
from hpcsched.studies.first_look import example_log, scenario_of_log
from tests.studies import first_look_samples as samples


def test_the_example_is_there() -> None:
    """With a checkout, and with a wheel (tests/release)."""
    assert example_log().name == "small-cluster.swf.gz"


def test_every_job_fits(tmp_path: Path) -> None:
    """Also those that took no time, or longer than they asked for."""
    text = samples.SWF + "81 900 -1 0 9999 -1 -1 9999 10 -1 1 1 1 1 1 1 -1 -1\n"
    loaded = scenario_of_log(samples.written(tmp_path, text), ())
    source = assemble(loaded.scenario).source
    assert len(list(source.jobs())) == source.account.read == 81


def test_resource_types_are_those_of_the_log() -> None:
    """The example tells of memory and GPUs."""
    loaded = scenario_of_log(example_log(), ())
    system = assemble(loaded.scenario).system
    assert system.resource_types == ("core", "mem", "gpu")


def test_a_log_that_is_missing(tmp_path: Path) -> None:
    """It is named."""
    with pytest.raises(InputError, match="there is no file"):
        scenario_of_log(tmp_path / "log.swf", ())


def test_a_log_of_alea(tmp_path: Path) -> None:
    """Its records are not called damaged: the message names the source that reads them."""
    log = tmp_path / "log.swf"
    log.write_text(samples.ALEA)
    with pytest.raises(InputError, match="a scenario with the trace source 'alea'"):
        scenario_of_log(log, ())


def test_examples_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are valid where they stand; what is there already is not replaced unasked."""
    out = tmp_path / "scenarios"
    assert main(["init", "examples", "--out", str(out)]) == 0
    assert main(["validate", str(out / "small-easy.yaml"), str(out / "slurm-site.yaml")]) == 0
    assert not list(out.rglob("*.py"))
    (out / "small-easy.yaml").write_text("mine")
    assert main(["init", "examples", "--out", str(out)]) == 1
    assert "--force" in capsys.readouterr().err
    assert (out / "small-easy.yaml").read_text() == "mine"
