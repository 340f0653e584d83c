"""What a run tells of the choices of `hyper`, and what is refused in a scenario."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import hpcsched
from hpcsched.cli import app
from hpcsched.errors import InputError
from tests.report.studies import pair

JOBS = ((0, 10), (1, 100), (2, 10), (3, 10), (50, 5))
"""When jobs on one processor are submitted, and how long they run."""

PORTFOLIO = "[easy, {name: easy, order: sjf}]"


def write_scenario(folder: Path, portfolio: str = PORTFOLIO, more: str = "") -> Path:
    """Write the scenario of `docs/hyper.md`; return its path."""
    lines = [
        f"{number} {submit} -1 {time} 1 -1 -1 1 {time} -1 1 7 -1 -1 -1 1 -1 -1\n"
        for number, (submit, time) in enumerate(JOBS, start=1)
    ]
    (folder / "serial.swf").write_text("".join(lines))
    path = folder / "serial.yaml"
    path.write_text(
        "name: serial\n"
        "system: {groups: [{name: node, count: 1, resources: {core: 1}}]}\n"
        "trace: {source: swf, path: serial.swf}\n"
        "dispatcher:\n"
        "  name: hyper\n"
        "  least_jobs: 5\n"
        "  least_t: 0.9\n"
        f"  portfolio: {portfolio}\n"
        f"{more}"
        "objective: wait_time\n"
        "observers: [reasons]\n"
    )
    return path


def test_a_run(tmp_path: Path) -> None:
    """Rounds, `explain` and the picture say who decided; the run is whole, and comes out again.

    By hand in `test_hyper`: from 110 s on the shortest job is first, so that job 5 starts at 110,
    job 3 at 115, and job 4 at 125.
    """
    path = write_scenario(tmp_path)
    result = hpcsched.run(path, tmp_path / "run")
    assert result.jobs.sort_by("job_id")["start_time"].to_pylist() == [0, 10, 115, 125, 110]
    because = "10.8 against 20.8 of easy over 5 jobs"
    rounds = result.rounds.select(["now", "chosen", "because"]).to_pylist()
    assert [row for row in rounds if row["chosen"] is not None] == [
        {"now": 0, "chosen": "easy", "because": "it is the one to begin with"},
        {
            "now": 110,
            "chosen": "easy order=sjf",
            "because": "10.8 against 20.8 of easy over 5 jobs",
        },
    ]
    told = CliRunner().invoke(app, ["explain", str(tmp_path / "run"), "5"])
    assert f"  easy order=sjf decided, since round 7, at 110 s: {because}.\n" in told.stdout
    told = CliRunner().invoke(app, ["explain", str(tmp_path / "run"), "2", "--format", "json"])
    assert json.loads(told.stdout)["chosen"]["chosen"] == "easy"
    assert CliRunner().invoke(app, ["verify", str(tmp_path / "run")]).exit_code == 0
    hpcsched.run(path, tmp_path / "again")
    bytes_of = [(tmp_path / name / "jobs.parquet").read_bytes() for name in ("run", "again")]
    assert bytes_of[0] == bytes_of[1]


def test_the_picture(tmp_path: Path) -> None:
    """Who decided when is drawn of runs that chose; it is an error if none did."""
    hpcsched.run(write_scenario(tmp_path), tmp_path / "run")
    out = tmp_path / "choices.svg"
    result = CliRunner().invoke(app, ["plot", "choices", str(tmp_path / "run"), "--out", str(out)])
    assert result.stdout == f"wrote {out}\n"
    assert "easy order=sjf" in out.read_text()
    others = map(str, pair(tmp_path / "others"))
    result = CliRunner().invoke(app, ["plot", "choices", *others, "--out", str(out), "--force"])
    assert "no run chose between dispatchers" in str(result.exception)


@pytest.mark.parametrize(
    ("portfolio", "more", "message"),
    [
        ("[easy, eazy]", "", ":8:21: error: dispatcher.portfolio[1]: no dispatcher"),
        (
            "[easy, {name: easy, order: sjj}]",
            "",
            ":8:41: error: dispatcher.portfolio[1].order: no",
        ),
        ("[easy, hyper]", "", "place 2 of the portfolio is 'hyper', which cannot be replayed"),
        ("[easy, recorded]", "", "place 2 of the portfolio is 'recorded'"),
    ],
)
def test_what_is_refused(portfolio: str, more: str, message: str, tmp_path: Path) -> None:
    """Members of a portfolio are checked as any dispatcher is; some cannot be replayed."""
    with pytest.raises(InputError) as error:
        hpcsched.load_scenario(write_scenario(tmp_path, portfolio, more))
    assert message in str(error.value)


def test_the_first_of_the_portfolio_begins(tmp_path: Path) -> None:
    """Without enough jobs to replay it decides all rounds; by default it is `order-search`."""
    path = write_scenario(tmp_path, "[{name: easy, order: sjf}, easy]")
    result = hpcsched.run(path, tmp_path / "run")
    assert result.rounds["chosen"][0].as_py() == "easy order=sjf"
    scenario = hpcsched.load_scenario(path, ["dispatcher=hyper"])
    result = hpcsched.run(scenario, tmp_path / "default")
    assert result.rounds["chosen"][0].as_py().startswith("order-search")
