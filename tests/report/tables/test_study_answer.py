"""The answer of a study in sentences."""

from pathlib import Path

from typer.testing import CliRunner

from hpcsched.cli import app
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.studied_runs import open_study
from hpcsched.report.tables.study_tables import answer
from tests.runs.hand_made import JOBS, tamper_json, write_run

LATER = (*JOBS[:-1], JOBS[-1]._replace(start=150))
"""In these the last job, which runs for 30 s, started 60 s later: at 150, not at 90."""


def study(*folders: Path) -> ComparedStudy:
    """Open runs."""
    return ComparedStudy(open_study(list(folders)))


def test_who_is_ahead(tmp_path: Path) -> None:
    """Bounded slowdown of the last job: 2 = 60/30 and 4 = 120/30, so the mean differs by 2/7."""
    write_run(tmp_path / "slower", LATER, name="slower")
    write_run(tmp_path / "slow", JOBS, name="slow")
    first, noise, fallbacks, audit = answer(study(tmp_path / "slower", tmp_path / "slow"), [])
    assert first.startswith("slow is ahead by the objective, mean_bounded_slowdown (tau = 10): ")
    assert " less than slower with " in first
    # One job of seven makes the whole difference: many resamples do not hold it.
    assert noise.startswith(
        "The difference is within noise: over the same jobs its mean is -0.2857"
    )
    assert noise.endswith(" to 0.")
    assert (fallbacks, audit) == (
        "No round fell back to another plan.",
        "The audit of each run says ok.",
    )


def test_noise_of_the_objectives_own_bound(tmp_path: Path) -> None:
    """With tau = 60 s the last job has 1 and 2, so the mean over seven jobs differs by 1/7."""
    folders = [write_run(tmp_path / "slow", name="slow").path]
    folders.append(write_run(tmp_path / "slower", LATER, name="slower").path)
    for folder, value in zip(folders, (1.0, 8 / 7), strict=True):
        objective = {"name": "mean_bounded_slowdown", "parameters": {"tau": 60}, "value": value}
        tamper_json(folder / "summary.json", lambda s, o=objective: s.update(objective=o))
    _, noise, *_ = answer(study(*folders), [])
    assert "over the same jobs its mean is -0.1429," in noise


def test_equal_runs(tmp_path: Path) -> None:
    """None is ahead of itself."""
    for name in ("one", "two"):
        write_run(tmp_path / name, name=name)
    first, *_ = answer(study(tmp_path / "one", tmp_path / "two"), None)
    assert first.startswith(
        "By the objective, mean_bounded_slowdown (tau = 10), one, two are equal"
    )


def test_a_single_run(tmp_path: Path) -> None:
    """There is nobody to be ahead of; fallbacks and the audit are told."""
    folder = write_run(tmp_path / "one", name="one").path
    tamper_json(folder / "summary.json", lambda s: s["rounds"].update(fallbacks=1200))
    assert answer(study(folder), ["one"]) == [
        "Fell back to another plan: one in 1,200 rounds.",
        "The audit does not say ok: one.",
    ]
    assert answer(study(folder), None)[-1] == "The runs were not audited."


def test_different_objectives(tmp_path: Path) -> None:
    """Values of two objectives cannot be compared."""
    one, two = (write_run(tmp_path / name, name=name).path for name in ("one", "two"))
    tamper_json(two / "summary.json", lambda s: s["objective"].update(name="makespan"))
    first, *_ = answer(study(one, two), [])
    assert first == "The runs have different objectives, so none of them is ahead."


def test_an_objective_that_is_no_mean(tmp_path: Path) -> None:
    """Of the makespan there is no value for each job, so nothing is said of noise."""
    folders = []
    for name, value in (("one", 900_000.0), ("two", 720_000.0)):
        folders.append(write_run(tmp_path / name, name=name).path)
        objective = {"name": "makespan", "parameters": {}, "value": value}
        tamper_json(folders[-1] / "summary.json", lambda s, o=objective: s.update(objective=o))
    first, noise, *_ = answer(study(*folders), [])
    assert first == (
        "two is ahead by the objective, makespan: 720,000 s (8 d 8 h), which is 20.0 % less than"
        " one with 900,000 s (10 d 10 h)."
    )
    assert noise.startswith("Whether that is beyond noise is not known")


def objectives(folder: Path, *values: float) -> list[Path]:
    """Write runs of the same jobs with these values of the objective, and return their folders."""
    folders = []
    for k, value in enumerate(values):
        folders.append(write_run(folder / f"run{k}", name=f"run{k}").path)
        tamper_json(
            folders[-1] / "summary.json",
            lambda s, v=value: (
                s["objective"].update(value=v),
                s["metrics"].update(mean_bounded_slowdown=v),
            ),
        )
    return folders


def test_a_difference_that_is_rounding_is_no_lead(tmp_path: Path) -> None:
    """Sums of 0.1 and 0.2, and 0.3: nobody is ahead, and both are the best of a comparison."""
    folders = objectives(tmp_path, 0.1 + 0.2, 0.3, 0.4)
    first, *others = answer(study(*folders), [])
    assert first == (
        "By the objective, mean_bounded_slowdown (tau = 10), run1, run0 are equal: 0.3."
    )
    assert not any("noise" in line for line in others)
    result = CliRunner().invoke(app, ["compare", *map(str, folders)])
    assert result.exit_code == 0, result.output
    row = next(line for line in result.stdout.splitlines() if "mean_bounded_slowdown" in line)
    assert row.count("*") == 2


def test_a_small_lead_is_not_told_as_none(tmp_path: Path) -> None:
    """A ten-thousandth less is less."""
    first, *_ = answer(study(*objectives(tmp_path, 10_000.0, 9_999.0)), [])
    assert "9,999, which is under 0.1 % less than run0 with 10,000." in first
