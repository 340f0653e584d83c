"""Finding runs, and telling what they are runs of."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.studied_runs import open_study
from tests.report.studies import LATER, pair, write_experiment, write_studied
from tests.runs.hand_made import tamper_json


def test_run_directories_and_folders(tmp_path: Path) -> None:
    """A folder stands for the runs in it, and a run given twice is there once."""
    paths = pair(tmp_path / "runs")
    study = open_study([paths[1], tmp_path / "runs"])
    assert [one.run.path for one in study.runs] == [paths[1], paths[0]]
    assert study.configurations == ("sjf", "easy")
    assert study.groups == ("trace",)
    assert [one.dispatcher for one in study.runs] == ["list", "easy"]


def test_an_unfinished_run_in_a_folder(tmp_path: Path) -> None:
    """It is left out with a warning within a folder, and refused where it is named itself."""
    first, second = pair(tmp_path)
    tamper_json(second / "manifest.json", lambda content: content.update(status="running"))
    study = open_study([tmp_path])
    assert [one.run.path for one in study.runs] == [first]
    assert study.warnings == (f"{second} has not come to an end and is left out",)
    with pytest.raises(InputError, match="still going on"):
        open_study([second])


def test_a_folder_without_runs(tmp_path: Path) -> None:
    """There is nothing to compare in it."""
    with pytest.raises(InputError, match="holds none that has ended"):
        open_study([tmp_path])


def test_seeds_and_traces_tell_runs_apart(tmp_path: Path) -> None:
    """Names say no more than is needed; runs alike in all that counts have directories."""
    seeds = [write_studied(tmp_path / f"{seed}", seed=seed) for seed in (0, 1)]
    assert [one.name for one in open_study(seeds).runs] == ["easy (seed 0)", "easy (seed 1)"]
    other = write_studied(tmp_path / "other", trace="kth")
    assert [one.name for one in open_study([seeds[0], other]).runs] == [
        "easy (trace)",
        "easy (kth)",
    ]
    again = write_studied(tmp_path / "again", LATER)
    study = open_study([seeds[0], again])
    assert study.configurations == (f"easy ({seeds[0]})", f"easy ({again})")


def test_two_traces_of_one_name(tmp_path: Path) -> None:
    """They are numbered, since they are not the same."""
    first = write_studied(tmp_path / "first", trace="kth")
    second = write_studied(tmp_path / "second", trace="kth")
    tamper_json(
        second / "manifest.json", lambda content: content["trace_files"][0].update(sha256="2")
    )
    assert open_study([first, second]).groups == ("kth (1)", "kth (2)")


@pytest.mark.parametrize("status", ["failed", "interrupted"])
def test_a_run_that_failed_before_its_first_event(status: str, tmp_path: Path) -> None:
    """It is left out of a folder of runs, with a warning."""
    first, second = pair(tmp_path)
    (second / "summary.json").unlink()
    tamper_json(second / "manifest.json", lambda content: content.update(status=status))
    study = open_study([tmp_path])
    assert [one.run.path for one in study.runs] == [first]
    assert study.warnings == (f"{second} has status {status}, has no summary.json and is left out",)


def test_orders_are_part_of_a_dispatcher(tmp_path: Path) -> None:
    """A list by another order than arrival is another dispatcher."""
    names = []
    for order in ("fcfs", "sjf"):
        dispatcher = {"name": "list", "order": {"name": order}}
        path = write_studied(tmp_path / order, dispatcher=dispatcher)
        names.append(open_study([path]).runs[0].dispatcher)
    assert names == ["list", "list sjf"]


def test_an_experiment(tmp_path: Path) -> None:
    """What was varied are its labels, but for those of the trace; a failed cell is warned of."""
    study = write_experiment(tmp_path)
    assert study.configurations == ("easy", "sjf")
    assert study.groups == ("kth", "ctc")
    assert len(study.runs) == 7
    assert study.runs[1].name == "easy (kth) (seed 1)"
    assert study.warnings == (f"{tmp_path}: sjf.ctc.1 has no run and is left out",)
    assert ComparedStudy(study, "sjf").baseline == "sjf"
    assert ComparedStudy(study, "sjf (kth) (seed 1)").baseline_run.seed == 1


@pytest.mark.parametrize("content", ['{"cells": [{}]}', "{}", '{"cells": 1}'])
def test_a_damaged_index(content: str, tmp_path: Path) -> None:
    """It is one clear message."""
    (tmp_path / "experiment.json").write_text(content)
    with pytest.raises(InputError, match=r"experiment\.json: error: it is damaged"):
        open_study([tmp_path])


def test_an_unknown_baseline(tmp_path: Path) -> None:
    """It is an error with the names that there are."""
    study = open_study(pair(tmp_path))
    with pytest.raises(InputError, match="'fast' is none of these runs; there are: easy, sjf"):
        ComparedStudy(study, "fast")


def test_a_damaged_scenario(tmp_path: Path) -> None:
    """It is named."""
    path = write_studied(tmp_path / "run")
    for text in ("a: [", "- 1", "\x00"):
        (path / "scenario.yaml").write_text(text)
        with pytest.raises(InputError, match=r"scenario\.yaml: error: it is damaged"):
            open_study([path])
