"""`hpcsched predictors evaluate` tells how good predictors are."""

import json
import sys
from pathlib import Path

import pytest

from hpcsched import cli
from tests.workload.readers.swf_files import record, write

ROOT = Path(__file__).parents[2]
SMALL = str(ROOT / "scenarios" / "small-easy.yaml")
ALL = "last-two, profile, profile-confidence, {name: inflated, of: last-two, quantile: 0.9}"
SCENARIO = """\
name: tiny
system: {groups: [{name: node, count: 4, resources: {core: 2}}]}
trace: {source: swf, path: log.swf}
predictor: PREDICTOR
dispatcher: easy
"""


@pytest.fixture(autouse=True)
def _fake_plugins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Leave the plugins as they are, which other tests of commands do not."""
    monkeypatch.chdir(tmp_path)


def tiny(folder: Path, predictor: str = "last-two") -> str:
    """Write four jobs of one user that requested 100 s, and ran for 50, 100, 60 and 75 s."""
    run_times = (50, 100, 60, 75)
    write(folder, [record(k, 1000 * k, run=run) for k, run in enumerate(run_times, start=1)])
    path = folder / "scenario.yaml"
    path.write_text(SCENARIO.replace("PREDICTOR", predictor), encoding="utf-8")
    return str(path)


def cells(text: str, label: str) -> list[str]:
    """Return the cells of the first row with a label."""
    line = next(line for line in text.splitlines() if line.strip().startswith(f"{label}  "))
    return line.strip().removeprefix(label).split()


def test_text_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """last-two says 100, 100, 75, 80: off by 50, 0, 15, 5 s; requested-time by 50, 0, 40, 25 s."""
    assert cli.main(["predictors", "evaluate", tiny(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines()[0].split() == ["last-two", "requested-time"]
    assert cells(out, "jobs") == ["4", "4"]
    assert cells(out, "mean absolute error") == ["0.3", "min", "0.5", "min"]
    assert cells(out, "exact") == ["25.0", "%", "25.0", "%"]
    assert cells(out, "over: predicted more") == ["75.0", "%", "75.0", "%"]
    assert cells(out, "accuracy 0.75 to 1.25") == ["75.0", "%", "50.0", "%"]
    assert cells(out, "accuracy, p50") == ["0.800", "0.600"]
    assert cells(out, "last_two") == ["50.0", "%", "(0.2", "min)"]
    assert cells(out, "requested_time") == ["50.0", "%", "(0.4", "min)"]
    assert "only then is it learnt from" in out


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The scenario's predictor comes first, each choice once, exact values."""
    arguments = ["predictors", "evaluate", tiny(tmp_path), "--format", "json"]
    named = "profile, last-two, requested-time, {name: inflated, of: actual, factor: 2, cap: true}"
    assert cli.main([*arguments, "--predictors", named]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    content = json.loads(out)
    assert content["scenario"] == "tiny"
    assert content["records"]["submitted"] == 4
    by_title = {one["predictor"]: one for one in content["predictors"]}
    assert list(by_title) == [
        "last-two", "profile", "requested-time", "inflated(of=actual, factor=2.0, cap=true)",
    ]  # fmt: skip
    assert by_title["last-two"]["mean_absolute_error_seconds"] == 17.5
    # 100, 50, 100, 60: the first by what was requested, the others by the full profile
    assert by_title["profile"]["mean_absolute_error_seconds"] == (50 + 50 + 40 + 15) / 4
    counts = {rule["rule"]: rule["jobs"] for rule in by_title["profile"]["rules"]}
    assert {rule: count for rule, count in counts.items() if count} == {
        "full": 3, "requested_time": 1,
    }  # fmt: skip
    assert list(by_title.values())[3]["mean_absolute_error_seconds"] == (50 + 0 + 40 + 25) / 4


def test_set_reaches_every_predictor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Overrides hold for the trace, and for the scenario's own predictor alone."""
    arguments = ["--set", "trace.jobs=3", "--set", "predictor=profile", "--predictors", "last-two"]
    command = ["predictors", "evaluate", tiny(tmp_path, "actual"), "--format", "json"]
    assert cli.main([*command, *arguments]) == 0
    found = json.loads(capsys.readouterr().out)["predictors"]
    jobs = {one["predictor"]: one["jobs"] for one in found}
    assert jobs == dict.fromkeys(["profile", "last-two", "requested-time"], 3)


def test_shares_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    """On the trace that comes along, twice: the same bytes."""
    said = set()
    for _ in range(2):
        arguments = ["predictors", "evaluate", SMALL, "--predictors", ALL, "--format", "json"]
        assert cli.main([*arguments, "--set", "trace.jobs=400"]) == 0
        said.add(capsys.readouterr().out)
    (out,) = said
    for one in json.loads(out)["predictors"]:
        shares = [one[f"{what}_share"] for what in ("under", "exact", "over")]
        assert sum(shares) == pytest.approx(1)
        if one["rules"]:
            assert sum(rule["jobs"] for rule in one["rules"]) == 400


def test_a_table_on_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A terminal gets a drawn table with the same rows, within its width."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "70")
    assert cli.main(["predictors", "evaluate", tiny(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "─" * 70 in out
    assert "mean absolute error" in out


def test_a_trace_without_jobs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There is nothing to tell or to plot, and no fault."""
    path = tiny(tmp_path)
    write(tmp_path, [record(1, run=0)])
    assert cli.main(["predictors", "evaluate", path]) == 0
    assert cells(capsys.readouterr().out, "mean absolute error") == ["–", "–"]


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("last-tow", "--predictors last-tow: error: predictor: no predictor is called 'last-tow';"),
        ("{name: inflated, of: x, factor: 2}", "predictor.of: no predictor is called 'x';"),
        ("{name: last-two, memory: 0}", "predictor.memory: "),
        ("{memory: 5}", "predictor.name: the key 'name' is missing"),
        ("7", "--predictors 7: error: predictor: expected a name"),
        ("last-two, [", "--predictors last-two, [: error: not valid YAML"),
    ],
)
def test_names_at_fault(
    named: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line says what is wrong, and with which of them."""
    assert cli.main(["predictors", "evaluate", tiny(tmp_path), "--predictors", named]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err


def test_scenarios_at_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is wrong with the scenario is told once, not for each predictor."""
    good = tiny(tmp_path)
    for arguments, rule in (
        (["none.yaml"], "unreadable-file"),
        ([good, "--set", "predictor=nobody"], "unknown-plugin"),
        ([good, "--set", "trace.path=none.swf"], "path-not-found"),
    ):
        assert cli.main(["predictors", "evaluate", *arguments, "--predictors", "profile"]) == 1
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert err.endswith(f"[{rule}]\n")


def test_an_off_line_scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """That only an oracle can be planned with does not matter: nothing is planned."""
    offline = ["--set", "simulation.mode=offline", "--set", "dispatcher=order-search"]
    path = tiny(tmp_path, "actual")
    assert cli.main(["predictors", "evaluate", path, *offline, "--predictors", "profile"]) == 0
    header = capsys.readouterr().out.splitlines()[0]
    assert header.split() == ["actual", "profile", "requested-time"]
