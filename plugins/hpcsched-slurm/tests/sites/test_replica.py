"""`hpcsched init site` and `hpcsched try --conf`: the scenario of a Slurm site as it is today."""

import shutil
from pathlib import Path

import pytest
import yaml

from hpcsched import cli
from hpcsched.scenario import load_scenario

TRACES = Path(__file__).parents[4] / "scenarios" / "traces"
SITE = ["--conf", "slurm.conf", "--assoc", "slurm-accounts.txt", "--time-zone", "Europe/Prague"]


@pytest.fixture(autouse=True)
def _site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go to a folder with the files of the made-up site."""
    monkeypatch.chdir(tmp_path)
    for name in ("slurm-jobs.txt.gz", "slurm.conf", "slurm-accounts.txt"):
        shutil.copy(TRACES / name, name)


def init(*arguments: str) -> int:
    """Run `hpcsched init site` on the site's log, and return its exit code."""
    return cli.main(["init", "site", "--sacct", "slurm-jobs.txt.gz", *arguments])


def test_the_scenario_of_the_site(capsys: pytest.CaptureFixture[str]) -> None:
    """It is valid, has each part of the site, and says where settings are from."""
    assert init(*SITE, "--weeks", "0") == 0
    said = capsys.readouterr()
    assert "site: 18 nodes in 3 groups, 3 partitions, from slurm.conf" in said.out
    text = Path("scenario.yaml").read_text(encoding="utf-8")
    assert "# c[01-12], slurm.conf:19\n" in text
    assert "fair_share: 10000, partition: 1000, qos: 2000}  # slurm.conf:11-15\n" in text
    for told in (
        "not in the scenario: JobSubmitPlugins=lua (slurm.conf:17)",
        "partitionname old: left out: a partition without nodes runs no job (slurm.conf:25)",
    ):
        assert f"# {told}\n" in text
        assert f"warning: {told}\n" in said.err
    assert (
        "  express: {priority: 10, limits: {per_user: {core: 256}}}  # slurm-accounts.txt:3" in text
    )
    scenario = load_scenario(Path("scenario.yaml"))
    assert scenario.accounts["project5"].users[30] == "parent"
    assert scenario.accounts["root"].other_users
    assert cli.main(["validate", "scenario.yaml"]) == 0


def test_how_well_it_reproduces_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    """The waits are about those of the log; causes are in its columns."""
    assert init(*SITE) == 0
    said = capsys.readouterr().out
    rows = [line.split() for line in said.splitlines() if line.startswith("all jobs")]
    assert rows[0][2] == "578"
    assert 0.8 < float(rows[0][-1]) < 1.25
    assert "jobs wait within 10 minutes of what they did." in said
    assert "12 jobs were not eligible for 10 minutes or more" in said
    assert "other reasons than priority and resources (Reason): BeginTime 12" in said
    assert "more could be said with these columns of sacct: Reservation" in said
    assert "no replica" not in said


def test_the_last_weeks_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a log of six weeks with a job in each, two weeks are replayed, and the one before."""
    rows = [
        f"{n}|{at}T10:00:00|{at}T10:0{n}:00|{at}T10:09:00|00:10:00|1|32|cpu|user01|project1|normal"
        for n, at in enumerate(
            ("2024-04-01", "2024-04-08", "2024-04-15", "2024-04-22", "2024-04-29", "2024-05-06"), 1
        )
    ]
    header = "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|Partition|User|Account|QOS"
    Path("slurm-jobs.txt.gz").write_text("\n".join([header, *rows, ""]))
    assert init(*SITE, "--weeks", "2") == 0
    said = capsys.readouterr().out
    # Jobs 4, 5 and 6, which waited 4, 5 and 6 minutes; job 3 is of the week before.
    assert [line.split()[2:] for line in said.splitlines() if line.startswith("all jobs")] == [
        ["3", "0", "100", "100", "0", "300", "0"]
    ]


def test_weights_without_tables(capsys: pytest.CaptureFixture[str]) -> None:
    """Without accounts, the weights of QOS and of fair share have nothing to weigh."""
    assert init("--conf", "slurm.conf", "--weeks", "0") == 0
    said = capsys.readouterr().err
    assert "weights.qos: expected qos with what this weighs, found none" in said
    assert "weights.fair_share: expected accounts with what this weighs, found none" in said
    assert init("--conf", "slurm.conf", "--force", "--time-zone", "Europe/Prague") == 0
    assert "weights.qos: expected qos with what this weighs" in capsys.readouterr().out


def test_try_replays_the_site_too(capsys: pytest.CaptureFixture[str]) -> None:
    """`today` comes first; the others respect the same partitions."""
    command = ["try", "slurm-jobs.txt.gz", *SITE, "--dispatchers", "easy", "--save", "tried"]
    assert cli.main(command) == 0
    said = capsys.readouterr().out
    assert "today against its log, over 578 jobs: the mean wait is" in said
    assert "hpcsched run tried/today.yaml" in said
    made = [yaml.safe_load(Path(f"tried/{name}.yaml").read_text()) for name in ("today", "easy")]
    assert made[0]["partitions"] == made[1]["partitions"]
    assert made[1]["dispatcher"] == "easy"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["init", "site", "--sacct", "slurm.conf", "--conf", "slurm.conf"], "known format"),
        (["init", "site", "--sacct", "slurm-jobs.txt.gz", "--conf", "none"], "no file none"),
        (["try", "log.swf", "--conf", "slurm.conf"], "no configuration of a site is read beside"),
        (["try", "log.swf", "--assoc", "slurm.conf"], "expected --conf beside --assoc"),
        (["try", "log.swf", "--conf", "slurm.conf", "--nodes", "3"], "found both"),
        (
            ["try", "slurm-jobs.txt.gz", "--conf", "slurm.conf", "--assoc", "slurm.conf"],
            "slurm.conf: error: expected what `sacctmgr --parsable2 show associations tree`",
        ),
    ],
)
def test_faults(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Files of another kind are refused in words."""
    Path("log.swf").write_text("1 0 -1 60 2 -1 -1 2 60 -1 1 1 1 1 1 1 -1 -1\n")
    assert cli.main(arguments) in (1, 2)
    assert told in capsys.readouterr().err
