"""The blocks `preempt` and `checkpoint`: what follows from them, and what is refused."""

import pytest

from hpcsched.errors import InputError
from hpcsched.runs.assembly import assemble
from hpcsched.scenario import load_scenario

BASE = """\
name: preempt
system: {groups: [{name: node, count: 2, resources: {core: 1}}]}
trace: {source: swf, path: jobs.swf}
"""


def loaded(tmp_path, text, dispatcher="easy"):
    """Return a scenario with some more keys."""
    (tmp_path / "jobs.swf").write_text("1 0 -1 5 1 -1 -1 1 5 -1 1 1 1 1 1 1 -1 -1\n")
    path = tmp_path / "scenario.yaml"
    path.write_text(f"{BASE}dispatcher: {dispatcher}\n{text}\n")
    return load_scenario(path)


def test_modes_and_times_of_a_qos_and_of_a_partition(tmp_path):
    """They replace those of the block; priorities beyond Slurm's largest are cut to it."""
    scenario = loaded(
        tmp_path,
        "qos: {1: {mode: cancel, grace: 5}, 2: {priority: 99999, preempts: [1], exempt: 7}}\n"
        "preempt: {by: qos, exempt: 30, grace: 2}",
    )
    classes = assemble(scenario).preemption.classes
    assert [tuple(one)[:5] for one in classes] == [
        ("1", "cancel", 30, 5, 0),
        ("2", "requeue", 7, 2, 65535),
    ]
    assert classes[1].preempts == {"1"}
    scenario = loaded(
        tmp_path,
        "partitions: [{name: a, jobs: {partition: [1]}, preempt_mode: suspend, grace: 3},"
        " {name: b, tier: 2}]\npreempt: {by: partition}",
    )
    classes = assemble(scenario).preemption.classes
    assert [tuple(one)[:5] for one in classes] == [
        ("a", "suspend", 0, 3, 1),
        ("b", "requeue", 0, 0, 2),
    ]


@pytest.mark.parametrize(("text", "message"), [
    ("preempt: {by: partition}", "there are no partitions"),
    ("preempt: {by: qos}", "no qos preempts another"),
    ("qos: {1: {preempts: [7]}}\npreempt: {by: qos}", "there is no qos '7'"),
    ("qos: {1: {preempts: [2]}, 2: {preempts: [1]}}\npreempt: {by: qos}", "or in a circle"),
    ("preempt: {by: priority}\nsimulation: {dispatch_latency: {fixed: 1s}}", "no simulated time"),
    ("preempt: {by: priority}\nsimulation: {mode: offline}", "expected no preempt"),
    ("checkpoint: {cost: 5}", "every"),
])  # fmt: skip
def test_what_does_not_go_together(tmp_path, text, message):
    """It is refused as the scenario is loaded, with one clear message."""
    with pytest.raises(InputError, match=message):
        loaded(tmp_path, text)


@pytest.mark.parametrize(("text", "dispatcher", "message"), [
    ("preempt: {by: priority}", "best-of", "the dispatcher best-of"),
    ("preempt: {by: priority}", "{name: easy, order: multifactor}", "the queue order"),
    ("partitions: [{name: a, jobs: {queue: [1]}, tier: 2}, {name: b}]", "best-of", "best-of"),
])  # fmt: skip
def test_dispatchers_that_do_not_preempt_are_refused(tmp_path, text, dispatcher, message):
    """That is said as the parts are built, by `validate` too."""
    with pytest.raises(InputError, match=message) as error:
        assemble(loaded(tmp_path, text, dispatcher)).build_all()
    assert [finding.rule for finding in error.value.findings] == ["no-preemption"]
