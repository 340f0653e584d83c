"""The trace source `mimic`: jobs of the original, moved by users."""

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
from hpcsched.workload.synthetic.lublin99 import Lublin99Params, make_lublin99
from hpcsched.workload.synthetic.mimic import MimicParams, MimicSource
from hpcsched.workload.synthetic.synthetic_source import SyntheticSource
from tests.builders import alike, traced
from tests.workload.readers.swf_files import record, write
from tests.workload.synthetic import sequences

GOLDEN = "bcf6455b23c2c72e6995c9bb51191d893537a3d88c525d40a532c98431e66c16"
"""Of the first 500 jobs of seed 0; a changed workload must be meant, and said."""
SYSTEM = alike(128, core=1, gpu=2)
TIMES = ["UnixStartTime: 843480031", "TimeZone: 3600", "TimeZoneString: Europe/Stockholm"]
DAY, WEEK = 86_400, 7 * 86_400


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
    params = Lublin99Params(jobs=jobs, overestimation=1.5)
    return make_lublin99(params, SimpleNamespace(system=SYSTEM, seed=7))


def mimic(seed=0, of=None, system=SYSTEM, **params):
    """Return a source that mimics an original."""
    original = lublin() if of is None else of
    context = SimpleNamespace(system=system, seed=seed, make=lambda _, choice: choice)
    return MimicSource(MimicParams(of=original, **params), context)


def of_users(days):
    """Return an original of two jobs a day, one of each of two users; user 2 waits for user 1."""
    return Counted(
        [
            traced(
                2 * day + user,
                day * DAY + user * 60,
                user,
                100 * user,
                (1, 0),
                user=user,
                after=(2 * day + 1,) if user == 2 else (),
            )
            for day in range(days)
            for user in (1, 2)
        ]
    )


def test_users_are_moved_by_whole_weeks():
    """Hours, weekdays and the order of a user's jobs stay, but for the cut at the end."""
    found = [job for job, _ in mimic(of=of_users(70), seed=3).jobs()]
    for user in (1, 2):
        assert [job.submit_time for job in found if job.user == user] == [
            day * DAY + user * 60 for day in range(70)
        ]
    original = of_users(75)  # ten weeks and five days: moves are modulo eleven weeks
    found = [(job.user, job.submit_time) for job, _ in mimic(of=original, seed=3).jobs()]
    for user in (1, 2):
        days = [time // DAY for whose, time in found if whose == user]
        (begin,) = [day for before, day in pairwise(days) if day - before != 1]
        assert begin % 7 == 0
        assert len(days) == 75


def test_each_job_occurs_once_a_pass():
    """Twice in twice as many jobs; the second pass begins after the first ends."""
    original = list(lublin(500).jobs())
    found = list(mimic(of=Counted(original), jobs=1000).jobs())
    work = Counter((job.units, job.requested_time, run_time) for job, run_time in found)
    for job, run_time in original:
        work[job.units, job.requested_time, run_time] -= 2
    assert set(work.values()) == {0}
    assert [job.job_id for job, _ in found] == list(range(1, 1001))
    assert found[499].job.submit_time < found[500].job.submit_time


def test_moved_jobs_wait_for_nobody():
    """The job that one of them waited for may be submitted later."""
    assert {job.after for job, _ in mimic(of=of_users(30)).jobs()} == {()}


@pytest.mark.parametrize("seconds", [0, 3, 5000, 5 * DAY])
def test_short_originals(seconds):
    """They are moved by days, hours or seconds, and stay within their length."""
    jobs = [traced(1, 10, 1, 5, (1, 0)), traced(2, 10 + seconds, 1, 7, (1, 0))]
    found = list(mimic(of=Counted(jobs)).jobs())
    assert sorted(run_time for _, run_time in found) == [5, 7]
    assert all(10 <= job.submit_time <= 10 + 1.25 * seconds for job, _ in found)


def test_original_without_jobs():
    """Its mimic has none either."""
    assert list(mimic(of=Counted([])).jobs()) == []


def test_nothing_is_read_before_it_is_needed():
    """The original is read once, for the first job."""
    original = Counted(list(lublin(300).jobs()), uniform_request=(1, 0))
    source = mimic(of=original)
    assert (original.taken, source.fraction_read, source.uniform_request) == (0, None, (1, 0))
    first = list(islice(source.jobs(), 10))
    assert (original.taken, source.account.read, source.fraction_read) == (300, 10, 10 / 300)
    assert first == list(islice(source.jobs(), 10))
    assert original.taken == 300


def test_first_jobs_of_a_seed():
    """The same on every machine."""
    assert sequences.digest(mimic(), 500) == GOLDEN


def test_stream():
    """Ascending, repeatable, different for another seed."""
    sequences.check_stream(mimic)


def test_comments():
    """Those that say when it was are passed on as they are; nothing else can be mistaken."""
    comments = ["Computer: X", *TIMES, "JobNames: last"]
    source = mimic(of=Counted(list(lublin(50).jobs()), comments))
    assert source.comments[1:] == [*TIMES, "Original: Computer: X", "Original: JobNames: last"]
    assert "made up" in source.comments[0]


def test_no_jobs_cannot_be_asked_for():
    """At least one."""
    with pytest.raises(ValidationError):
        MimicParams(of=None, jobs=0)


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
