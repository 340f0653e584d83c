"""Scenarios that choose rules, orders and allocators, and what they are told where they err."""

from pathlib import Path

import pytest

from hpcsched.cli import main
from hpcsched.errors import InputError
from hpcsched.testing import RunScenario, run_scenario, use_plugins

__all__ = ["run_scenario", "use_plugins"]

SCENARIO = """
name: rules
system: {groups: [{name: node, count: 4, resources: {core: 4}}]}
trace: {source: swf, path: trace.swf, unit: {core: 1}}
dispatcher: DISPATCHER
"""


@pytest.mark.parametrize(
    "dispatcher",
    [
        "prb",
        "{name: prb, expected_wait: {other: 1h, by_queue: {1: 10min}}}",
        "{name: prb, expected_wait: {other: 1h, by_partition: {1: 10min}}}",
        "{name: prb, expected_wait: {other: 1h, by_units: {1: 10min, 4: 2h}}}",
        "{name: easy, order: {name: expected-wait, other: 60}, backfill_order: null}",
        "{name: easy, order: fcfs, backfill_order: sjf, allocator: weighted}",
        "relaxed",
        "{name: relaxed, relaxation: 0, order: saf,"
        " allocator: {name: hybrid, scarce_resources: [core]}}",
        "conservative",
        "{name: conservative, compression: reservation, allocator: balanced}",
        "slack",
        "{name: slack, share: 0, least_slack: 10min}",
    ],
)
def test_what_can_be_chosen(dispatcher: str, run_scenario: RunScenario) -> None:
    """A scenario runs, and so does the resolved one that lies beside its results, to verify."""
    result = run_scenario(SCENARIO.replace("DISPATCHER", dispatcher))
    resolved = result.directory.path / "scenario.yaml"
    assert main(["verify", str(result.directory.path)]) == 0
    assert main(["validate", str(resolved)]) == 0


@pytest.mark.parametrize(
    ("dispatcher", "said"),
    [
        ("{name: easy, backfill_order: 7}", "backfill_order: expected a name"),
        ("{name: relaxed, relaxation: -1}", "relaxation: expected a value of at least 0"),
        ("{name: slack, share: -1}", "share: expected a value of at least 0"),
        ("{name: list, depth: -1}", "depth: expected a value of at least 0"),
        ("{name: slack, least_slack: 1x}", "least_slack: expected a duration"),
        (
            "{name: conservative, compression: random}",
            "expected 'arrival' or 'reservation'",
        ),
        ("{name: prb, expected_wait: {by_queue: {1: 60}}}", "other"),
        (
            "{name: prb, expected_wait: {other: 1, by_queue: {1: 60}, by_units: {1: 60}}}",
            "expected one of by_queue, by_partition and by_units, found by_queue and by_units",
        ),
        (
            "{name: easy, allocator: {name: balanced, scarce_resources: [gpu]}}",
            "scarce_resources: gpu cannot be scarce: no node group has it",
        ),
    ],
)
def test_what_cannot(
    dispatcher: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says where, and what is wrong."""
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO.replace("DISPATCHER", dispatcher))
    (tmp_path / "trace.swf").write_text("")
    assert main(["validate", str(path)]) == 1
    printed = capsys.readouterr().out
    assert f"{path}:5:" in printed
    assert said in printed


def test_an_unknown_scarce_type_is_refused_when_run(run_scenario: RunScenario) -> None:
    """What a review finds is refused by a run, too."""
    dispatcher = "{name: easy, allocator: {name: hybrid, scarce_resources: [gpu]}}"
    with pytest.raises(InputError, match="error: dispatcher: gpu cannot be scarce"):
        run_scenario(SCENARIO.replace("DISPATCHER", dispatcher))
