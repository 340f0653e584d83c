"""The trace source `mimic`: how like the original it is, and what differs when it is told to."""

import json
from collections import Counter
from itertools import islice, pairwise
from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from hpcsched.errors import InputError
from hpcsched.plugins.manager import registry
from hpcsched.runs.assembly import assemble
from hpcsched.scenario import load_scenario, read_scenario, resolved_yaml
from hpcsched.scenario.review import review
from hpcsched.scenario.scenario_schema import scenario_schema
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.statistics.trace_statistics import distance, trace_statistics
from hpcsched.workload.synthetic import draws
from hpcsched.workload.synthetic.lublin99 import Lublin99Params, make_lublin99
from hpcsched.workload.synthetic.mimic import CORE_FLOPS, MimicParams, make_mimic
from hpcsched.workload.synthetic.synthetic_source import SyntheticSource
from tests.builders import alike, traced
from tests.real_traces import KTH_SP2, trace
from tests.workload.readers.swf_files import record, write
from tests.workload.synthetic import sequences
from tests.workload.synthetic.memory import peak

GOLDEN = "9ed10942bd9a50c1fb26605bbac55f98a3fafe4e1ee38a514bdc3fa1403d499c"
"""Of the first 500 jobs of seed 0; a changed workload must be meant, and said."""
SYSTEM = alike(128, core=1, gpu=2)
BOUNDS = (3600, 18000)
TIMES = ["UnixStartTime: 843480031", "TimeZone: 3600", "TimeZoneString: Europe/Stockholm"]

FARTHEST = {
    "calendar": {
        "hour": 0.03,
        "weekday": 0.02,
        "month": 0.03,
        "units": 0.01,
        "run_time": 0.025,
        "requested_time": 0.03,
        "interarrival_time": 0.04,
        "accuracy": 0.05,
    },
    "progress": {"hour": 0.04, "weekday": 0.08, "month": 0.08},
    "slots": {"hour": 0.05},
}
"""How far a mimic of KTH-SP2 may be from it, by way."""


class Counted:
    """An original that notes how many jobs have been taken from it."""

    files = ()

    def __init__(self, jobs, comments=(), uniform_request=None):
        self._jobs = jobs
        self.comments = comments
        self.uniform_request = uniform_request
        self.taken = 0

    def jobs(self):
        """Yield the jobs."""
        for job in self._jobs:
            self.taken += 1
            yield job


def lublin(jobs=2000):
    """Return an original that is made up itself."""
    params = Lublin99Params(jobs=jobs, types="both", overestimation=1.5)
    return make_lublin99(params, SimpleNamespace(system=SYSTEM, seed=7))


def mimic(seed=0, of=None, system=SYSTEM, **params):
    """Return a source that mimics an original."""
    original = lublin() if of is None else of
    context = SimpleNamespace(system=system, seed=seed, make=lambda _, choice: choice)
    return make_mimic(MimicParams(of=original, **params), context)


KTH = """\
name: kth
system: {{groups: [{{name: node, count: 100, resources: {{core: 1}}}}]}}
trace: {trace}
dispatcher: easy
"""


@pytest.fixture(scope="module")
def kth(tmp_path_factory):
    """Return what takes the census of KTH-SP2, and of mimics of it."""
    folder = tmp_path_factory.mktemp("kth")
    swf = {"source": "swf", "path": str(trace(KTH_SP2))}
    swf |= {"zero_run_time": "skip", "over_requested_time": "clip"}

    def census(seed=0, **params):
        declared = {"source": "mimic", "of": swf, **params} if params else swf
        path = folder / "scenario.yaml"
        path.write_text(KTH.format(trace=json.dumps(declared)))
        parts = assemble(load_scenario(path, [f"seed={seed}"]))
        return trace_statistics(parts.source, parts.system, BOUNDS)

    return census


@pytest.fixture(scope="module")
def kth_itself(kth):
    """Return the census of KTH-SP2."""
    return kth()


@pytest.mark.parametrize(
    ("way", "seed"),
    [
        pytest.param("calendar", 1, marks=pytest.mark.slow),
        pytest.param("calendar", 2, marks=pytest.mark.slow),
        ("progress", 1),
    ],
)
def test_distance_from_a_real_log(way, seed, kth, kth_itself):
    """As many jobs over about the same span, by the same cycles, of the same sizes and times."""
    found = kth(seed=seed, cycle=way)
    far = distance(kth_itself, found)
    assert [name for name, most in FARTHEST[way].items() if getattr(far, name) > most] == []
    assert found.arrivals.jobs == kth_itself.arrivals.jobs
    span = found.arrivals.span_seconds / kth_itself.arrivals.span_seconds
    assert span == pytest.approx(1, abs=0.03 if way == "calendar" else 0.1)
    assert found.cycles.counted_from == kth_itself.cycles.counted_from
    load = kth_itself.offered_load.by_demand_percent
    assert found.offered_load.by_demand_percent == pytest.approx(load, rel=0.1)


def test_plain_method_knows_no_weekdays(kth, kth_itself):
    """It follows the hours, and is far from the weekdays."""
    far = distance(kth_itself, kth(seed=1, cycle="slots"))
    assert far.hour < FARTHEST["slots"]["hour"]
    assert far.weekday > 0.1


def test_fewer_jobs(kth, kth_itself):
    """The span shrinks in proportion."""
    few = kth(cycle="calendar", jobs=3000)
    assert few.arrivals.jobs == 3000
    # It begins in quiet months.
    assert few.arrivals.span_seconds < 0.2 * kth_itself.arrivals.span_seconds


@pytest.mark.slow
def test_more_jobs(kth, kth_itself):
    """The span grows in proportion, and months come again."""
    many = kth(cycle="calendar", jobs=60_000)
    years = many.arrivals.span_seconds / (365 * 86_400)
    assert years == pytest.approx(2.0, abs=0.15)
    assert distance(kth_itself, many).weekday < 0.02


def test_speed():
    """With twice as fast cores each job takes half as long, and requests a common time for it."""
    plain, fast = mimic().jobs(), mimic(speedup={"core": 2.0}).jobs()
    for (job, run_time), (other, halved) in zip(plain, fast, strict=True):
        assert halved == max(int(run_time / 2 + 0.5), 1)
        assert other._replace(requested_time=job.requested_time) == job
        assert halved <= other.requested_time <= job.requested_time


def test_common_requested_times():
    """On a faster machine users still request what they are used to, if it is enough."""
    jobs = [
        traced(k, k * 60, 1, 100 + k % 7, (1, 0), requested_time=300 if k % 3 else 3600)
        for k in range(1, 500)
    ]
    for job, run_time in mimic(of=Counted(jobs), speedup={"core": 1.7}).jobs():
        assert job.requested_time in (300, 3600)
        assert run_time < 70


def test_further_requests():
    """A quarter of the jobs get one to three GPUs a unit, and are that much faster for it."""
    performance = {"core": 1e9, "gpu": 9e9}
    asked = {"gpu": {"share": 0.25, "min": 1, "max": 2}}
    source = mimic(requests=asked, performance=performance)
    assert source.uniform_request is None
    plain = mimic(requests={"gpu": {"share": 0.25, "min": 1, "max": 2}})
    amounts = Counter()
    for (job, run_time), (_, without) in zip(source.jobs(), plain.jobs(), strict=True):
        cores, gpus = job.unit_request
        amounts[gpus] += 1
        assert cores == 1
        assert run_time == max(int(without / (1 + 9 * gpus) + 0.5), 1)
    assert amounts[1] + amounts[2] == pytest.approx(500, abs=4 * (2000 * 0.25 * 0.75) ** 0.5)
    assert amounts[1] == pytest.approx(amounts[2], abs=4 * 500**0.5)
    assert mimic().uniform_request == (1, 0)


def test_further_requests_need_room():
    """Jobs that no longer fit are skipped; those bound to nodes ask for nothing further."""
    system = System(
        (NodeGroup("plain", 96, {"core": 1}), NodeGroup("gpu", 32, {"core": 1, "gpu": 2}))
    )
    asked = {"gpu": {"share": 1.0, "max": 2}}
    source = mimic(system=system, requests=asked)
    assert max(job.units for job, _ in source.jobs()) <= 32
    assert source.account.skipped["larger_than_system"] > 0
    jobs = [
        traced(1, 0, 2, 10, (1, 0), node_groups=frozenset({"plain"})),
        traced(2, 9, 2, 10, (1, 0), exclusive=True, allowed_nodes=frozenset({1, 2})),
        traced(3, 9, 2, 10, (1, 0), one_unit_per_node=True),
    ]
    found = {
        (job.unit_request, job.node_groups, job.exclusive, job.allowed_nodes, job.one_unit_per_node)
        for job, _ in mimic(of=Counted(jobs), system=system, requests=asked, jobs=50).jobs()
    }
    assert found == {
        ((1, 0), frozenset({"plain"}), False, None, False),
        ((1, 0), None, True, frozenset({1, 2}), False),
        ((1, 0), None, False, None, True),
    }


def test_request_limits():
    """Each amount is as likely as any other, type by type, and more cores are that much faster.

    An original of jobs with 2 units of 1 core for 1200 s each is 2400 core seconds; run times of a
    bin differ by 10 %. With 1 to 4 cores and 0 to 2 GPUs a unit, twelve requests are as likely.
    """
    system = alike(8, core=4, gpu=2)
    jobs = [traced(k, k, 2, 1200, (1, 0)) for k in range(1, 50)]
    limits = {"core": {"min": 1, "max": 4}, "gpu": {"max": 2}}
    source = mimic(of=Counted(jobs, uniform_request=(1, 0)), system=system, jobs=6000,
                   request_limits=limits)  # fmt: skip
    assert source.uniform_request is None
    amounts = Counter()
    for job, run_time in source.jobs():
        cores, gpus = job.unit_request
        amounts[cores, gpus] += 1
        assert job.units == 2
        assert run_time * cores == pytest.approx(1200, rel=0.11)
    assert set(amounts) == {(cores, gpus) for cores in (1, 2, 3, 4) for gpus in (0, 1, 2)}
    deviation = (6000 * (1 / 12) * (11 / 12)) ** 0.5
    assert all(count == pytest.approx(500, abs=4 * deviation) for count in amounts.values())


def test_request_limits_leave_the_rest():
    """Types that are not named, and jobs that are bound to nodes, stay as in the original.

    What fits on no node is skipped: of 1 to 8 cores a node has 4.
    """
    system = alike(8, core=4, gpu=2)
    jobs = [
        traced(1, 0, 1, 100, (1, 2)),
        traced(2, 9, 1, 100, (3, 1), exclusive=True),
    ]
    source = mimic(of=Counted(jobs), system=system, jobs=400,
                   request_limits={"core": {"min": 2, "max": 8}})  # fmt: skip
    found = {(job.unit_request, job.exclusive) for job, _ in source.jobs()}
    assert found == {((2, 2), False), ((3, 2), False), ((4, 2), False), ((3, 1), True)}
    left_out = source.account.skipped["larger_than_system"]
    assert left_out == pytest.approx(200 * 4 / 7, abs=4 * (200 * 4 / 7) ** 0.5)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"mic": {"max": 2}}, "no node group has mic"),
        ({"core": {"max": 2}}, "expected a min of at least 1 of core, found 0"),
        ({"core": {"min": 1, "max": 2}, "gpu": {"min": 3, "max": 3}}, "no node can hold a unit"),
    ],
)
def test_request_limits_that_fit_nothing(limits, said):
    """A type that the system lacks, units that compute nothing, and those that fit nowhere."""
    with pytest.raises(InputError, match=said):
        mimic(request_limits=limits)


def test_jobs_that_compute_nothing():
    """Of a type without performance: they run as long as they did, whatever is faster."""
    jobs = [traced(k, k, 3, 100, (0, 1)) for k in range(1, 50)]
    for job, run_time in mimic(of=Counted(jobs), speedup={"core": 10.0}).jobs():
        assert 90 < run_time < 110
        assert job.requested_time == run_time


@pytest.mark.parametrize("uniform", [False, True])
def test_more_kinds_of_requests_than_there_is_room_for(uniform, monkeypatch):
    """Those after the first ones are rounded; what a unit asks for is not, where all ask alike."""
    monkeypatch.setattr(draws, "MOST", 5)
    system = alike(1, core=100, mem=1000)
    nodes = frozenset({0})
    jobs = [
        traced(k, k, k, 100, (3, 0 if uniform else k), allowed_nodes=nodes) for k in range(1, 21)
    ]
    original = Counted(jobs, uniform_request=(3, 0) if uniform else None)
    found = {
        (job.units, job.unit_request, job.allowed_nodes)
        for job, _ in mimic(of=original, system=system, jobs=500).jobs()
    }
    kept = {(k, (3, 0 if uniform else k), nodes) for k in range(1, 6)}
    rounded = {(k, (3, 0) if uniform else (2, k), None) for k in (4, 8, 16)}
    assert found == kept | rounded


def test_submitters():
    """Users come with their groups, as often as in the original, and often again at once."""
    jobs = [
        traced(k, k, 1, 100, (1, 0), user=k // 10 % 4, group=k // 10 % 2, queue=1)
        for k in range(1, 1001)
    ]
    found = [job for job, _ in mimic(of=Counted(jobs), jobs=4000).jobs()]
    assert {(job.user, job.group, job.queue) for job in found} == {
        (0, 0, 1),
        (1, 1, 1),
        (2, 0, 1),
        (3, 1, 1),
    }
    for _, count in Counter(job.user for job in found).items():
        assert count == pytest.approx(1000, rel=0.25)
    again = sum(a.user == b.user for a, b in pairwise(found))
    assert again / 4000 == pytest.approx(0.9, abs=0.03)


def test_nothing_is_read_before_it_is_needed():
    """The original is read for the first job, twice, and never again; jobs come one by one."""
    original = Counted(list(lublin(300).jobs()), uniform_request=(1, 0))
    source = mimic(of=original)
    assert (original.taken, source.fraction_read) == (0, None)
    jobs = source.jobs()
    first = list(islice(jobs, 10))
    assert (original.taken, source.account.read, source.fraction_read) == (600, 10, 10 / 300)
    assert first == list(islice(source.jobs(), 10))
    assert original.taken == 600
    once = Counted(list(lublin(300).jobs()))
    next(mimic(of=once, cycle="progress").jobs())
    assert once.taken == 300


def test_two_at_once():
    """Jobs that are asked for side by side are the same."""
    source = mimic(jobs=200)
    assert all(one == other for one, other in zip(source.jobs(), source.jobs(), strict=True))


def test_first_jobs_of_a_seed():
    """The same on every machine."""
    assert sequences.digest(mimic(), 500) == GOLDEN


def test_stream():
    """Ascending, repeatable, different for another seed."""
    sequences.check_stream(mimic)


def test_memory():
    """Flat, in the number of jobs that are made and in that of the original's."""
    few = lublin(500)
    peak(mimic(of=few, jobs=1_000))  # has what is made once in a process be made
    assert peak(mimic(of=few, jobs=3_000)) - peak(mimic(of=few, jobs=1_000)) < 50_000
    # Tables fill up: 100 bytes a job are a small part of what jobs would take.
    assert peak(mimic(of=lublin(1_500), jobs=10)) - peak(mimic(of=few, jobs=10)) < 100_000


def test_comments():
    """Those that say when it was are passed on as they are; nothing else can be mistaken."""
    comments = ["Computer: X", *TIMES, "JobNames: last"]
    source = mimic(of=Counted(list(lublin(50).jobs()), comments))
    assert source.comments[1:] == [*TIMES, "Original: Computer: X", "Original: JobNames: last"]
    assert "made up" in source.comments[0]


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"speedup": {"gpus": 2.0}}, "no node group has gpus; there are: core, gpu"),
        ({"performance": {"mic": 2.0}}, "no node group has mic"),
        ({"requests": {"mic": {"share": 0.5}}}, "no node group has mic"),
        ({"speedup": {"gpu": 2.0}}, "the speedup of gpu says nothing"),
    ],
)
def test_what_the_system_lacks(params, said):
    """It is refused, with the key."""
    with pytest.raises(InputError, match=said) as caught:
        mimic(**params)
    assert caught.value.findings[0].key.startswith("trace.")


@pytest.mark.parametrize(
    "params",
    [
        {"jobs": 0},
        {"performance": {}},
        {"performance": {"core": 0.0}},
        {"speedup": {"core": -1.0}},
        {"requests": {"gpu": {"share": 0.0}}},
        {"requests": {"gpu": {"share": 0.5, "min": 3, "max": 2}}},
        {"request_limits": {"core": {"min": 3, "max": 2}}},
        {"request_limits": {"core": {"min": 1}}},
    ],
)
def test_bad_parameters(params):
    """They are refused."""
    with pytest.raises(ValidationError):
        MimicParams(of=None, **params)


@pytest.mark.parametrize("count", [0, 1])
def test_too_little_to_mimic(count):
    """A cycle needs two jobs."""
    original = Counted([traced(1, 0, 1, 10, (1, 0))][:count])
    with pytest.raises(InputError, match=f"at least two jobs to mimic, found {count}"):
        next(mimic(of=original).jobs())


def test_without_cores():
    """The first resource type is what computes."""
    jobs = [traced(k, k, 1, 50, (2, 1)) for k in range(1, 20)]
    system = alike(4, mic=2, mem=4)
    found = mimic(of=Counted(jobs), system=system, speedup={"mic": 2.0}).jobs()
    assert all(22 <= run_time <= 28 for _, run_time in found)
    assert CORE_FLOPS == 1e9


SCENARIO = """\
name: nested
system: {{groups: [{{name: node, count: 4, resources: {{core: 2}}}}]}}
trace:
  source: mimic
  of: {of}
dispatcher: easy
"""


def scenario(folder, of):
    """Write a scenario and return its path."""
    path = folder / "scenario.yaml"
    path.write_text(SCENARIO.format(of=of))
    return path


def test_nested_in_a_scenario(tmp_path):
    """The inner source is checked, built, written out and recorded like an outer one."""
    log = write(tmp_path, [record(k, 100 * k, 10 * k) for k in range(1, 9)])
    loaded = read_scenario(scenario(tmp_path, "{source: swf, path: log.swf}"))
    assert review(loaded) == []
    parts = assemble(loaded.scenario)
    assert list(parts.source.files) == [log]
    assert len(list(parts.source.jobs())) == 8
    again = tmp_path / "again.yaml"
    again.write_text(resolved_yaml(loaded.scenario))
    assert load_scenario(again) == loaded.scenario
    definitions = scenario_schema(registry())["definitions"]
    of = definitions["TraceSourceMimic"]["properties"]["of"]
    assert of["allOf"] == [{"$ref": "#/definitions/trace_source"}]


def test_nested_twice(tmp_path):
    """A mimic of a mimic of a model."""
    of = "{source: mimic, of: {source: lublin99, jobs: 50, size: 16}, jobs: 40}"
    parts = assemble(load_scenario(scenario(tmp_path, of)))
    assert parts.source.files == ()
    account = parts.source.account
    assert len(list(parts.source.jobs())) <= 40
    assert account is not parts.source.account


@pytest.mark.parametrize(
    ("of", "rule", "key"),
    [
        ("{source: swf, path: none.swf}", "path-not-found", "trace.of.path"),
        ("{source: swf, path: log.swf, unit: {core: 3}}", "no-node-holds-unit", "trace.of.unit"),
    ],
)
def test_warnings_of_the_inner_source(of, rule, key, tmp_path):
    """They name its place."""
    write(tmp_path, [record(1)])
    (finding,) = review(read_scenario(scenario(tmp_path, of)))
    assert (finding.rule, finding.key) == (rule, key)


@pytest.mark.parametrize(
    ("of", "key"),
    [
        ("{source: swf}", "trace.of.path"),
        ("{source: swf, path: log.swf, jobz: 3}", "trace.of.jobz"),
        ("{source: swff, path: log.swf}", "trace.of.source"),
        ("3", "trace.of"),
    ],
)
def test_errors_in_the_inner_source(of, key, tmp_path):
    """They name its place."""
    with pytest.raises(InputError) as caught:
        load_scenario(scenario(tmp_path, of))
    assert [finding.key for finding in caught.value.findings] == [key]


def test_a_broken_original(tmp_path):
    """What is wrong with it is said with its line when jobs are asked for."""
    write(tmp_path, [record(1), "not a record"])
    parts = assemble(load_scenario(scenario(tmp_path, "{source: swf, path: log.swf}")))
    with pytest.raises(InputError, match=r"log\.swf:2"):
        next(parts.source.jobs())


def test_any_source_will_do():
    """One that is generated on the spot, too."""
    jobs = [traced(k, 50 * k, 1 + k % 3, 10 * k, (1, 0)) for k in range(1, 30)]
    source = SyntheticSource(lambda: iter(jobs), SYSTEM)
    assert {job.units for job, _ in mimic(of=source, jobs=200).jobs()} == {1, 2, 3}
