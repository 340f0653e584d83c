"""Formats of logs by their names, and the example."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.runs.assembly import assemble
from hpcsched.studies.first_look import scenario_of_log
from hpcsched.studies.log_files import LogSource, example_log, format_of, is_scenario, source_of
from tests.studies import first_look_samples as samples


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("a.swf", LogSource.SWF), ("a.swf.gz", LogSource.SWF), ("a.json.gz", LogSource.BATSIM),
        ("a.csv", LogSource.TABLE), ("a.parquet", LogSource.TABLE),
    ],
)  # fmt: skip
def test_by_the_ending(name: str, source: LogSource) -> None:
    """Packed or not."""
    assert source_of(Path(name)) == source


@pytest.mark.parametrize("name", ["a", "a.txt", "a.gz"])
def test_unknown_endings(name: str) -> None:
    """Those that are known are named."""
    with pytest.raises(InputError, match=r"\.swf, \.json"):
        source_of(Path(name))


def test_files_to_write() -> None:
    """Tables are written as Parquet alone."""
    assert format_of(Path("a.swf.gz")) == LogSource.SWF
    with pytest.raises(InputError, match=r"or \.parquet"):
        format_of(Path("a.csv"))


def test_scenarios() -> None:
    """By their endings."""
    assert is_scenario(Path("a.yaml"))
    assert not is_scenario(Path("a.swf"))


def test_the_example_is_there() -> None:
    """With a checkout, and with a wheel (tests/release)."""
    assert example_log().name == "small-cluster.swf.gz"


def test_every_job_fits(tmp_path: Path) -> None:
    """Also those that took no time, or longer than they asked for."""
    text = samples.SWF + "81 900 -1 0 9999 -1 -1 9999 10 -1 1 1 1 1 1 1 -1 -1\n"
    loaded = scenario_of_log(samples.written(tmp_path, text), LogSource.SWF, ())
    source = assemble(loaded.scenario).source
    assert len(list(source.jobs())) == source.account.read == 81


def test_resource_types_are_those_of_the_log() -> None:
    """The example tells of memory and GPUs."""
    loaded = scenario_of_log(example_log(), LogSource.SWF, ())
    system = assemble(loaded.scenario).system
    assert system.resource_types == ("core", "mem", "gpu")


def test_a_log_that_is_missing(tmp_path: Path) -> None:
    """It is named."""
    with pytest.raises(InputError, match="there is no file"):
        scenario_of_log(tmp_path / "log.swf", LogSource.SWF, ())


def test_a_log_of_alea(tmp_path: Path) -> None:
    """Its records are not called damaged: the message names the source that reads them."""
    log = tmp_path / "log.swf"
    log.write_text(samples.ALEA)
    with pytest.raises(InputError, match="a scenario with the trace source 'alea'"):
        scenario_of_log(log, LogSource.SWF, ())
