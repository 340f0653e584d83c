"""Limits over time, such as `GrpTRESMins`, as slurmctld prints them with their usage.

`ASSOC_MGR` is what `scontrol` of Slurm 22.05.8 printed, without the keys that are not read, while
four jobs of `theory` in the QOS `normal` and two in `small` ran, each with 2 CPUs for 5 minutes:
4 × 10 + 2 × 10 × 0.5 (`UsageFactor` of `small`) = 50 CPU minutes.
"""

import pytest

from hpcsched.system.limits import (
    Association,
    Holder,
    LimitSet,
    Metered,
    Qos,
    TimeLimits,
    TimeUsage,
)
from hpcsched.system.policies import Policies
from hpcsched_slurm.job_rules import Rules
from hpcsched_slurm.policy_reading import QOS_FIELDS, read_qos, records_of_text
from hpcsched_slurm.time_limits import RulesNow, read_time_usage, rules_now
from test_policies import jobs_under

ASSOC_MGR = """\
Current Association Manager state
Association Records
ClusterName=test Account=root UserName= Partition= Priority=0 ID=1 GrpWall=N(0.00) \
GrpTRESMins=cpu=N(0),mem=N(0) GrpTRESRunMins=cpu=N(50),mem=N(12500) MaxTRESMinsPJ= MinPrioThresh=
ClusterName=test Account=physics UserName= Partition= Priority=0 ID=3 GrpWall=100(7.50) \
GrpTRESMins=cpu=N(0),mem=N(0) GrpTRESRunMins=cpu=N(50),mem=N(12500) MaxTRESMinsPJ= MinPrioThresh=
ClusterName=test Account=theory UserName= Partition= Priority=0 ID=4 GrpWall=N(0.00) \
GrpTRESMins=cpu=100(60),mem=N(0),billing=500(0),gres/gpu:a100=N(0) \
GrpTRESRunMins=cpu=40(50),mem=N(12500),billing=N(50),gres/gpu:a100=N(0) MaxTRESMinsPJ=
ClusterName=test Account=theory UserName=root(0) Partition= Priority=0 ID=5 GrpWall=N(0.00) \
GrpTRESMins=cpu=N(0),mem=N(0) GrpTRESRunMins=cpu=N(50),mem=N(12500) MaxTRESMinsPJ=cpu=30
QOS Records
QOS=normal(1) UsageRaw=0.000000 GrpWall=N(0.00) GrpTRESMins=cpu=N(0) GrpTRESRunMins=cpu=N(40) \
Account Limits= theory={MaxJobsPA=N(4) MaxTRESPA=cpu=N(8)} User Limits= 0={MaxJobsPU=N(4)}
QOS=small(2) UsageRaw=0.000000 GrpWall=1000(0.00) GrpTRESMins=cpu=100000(0) \
GrpTRESRunMins=cpu=60(10) MaxTRESMinsPJ=cpu=20
"""
AT = 1_700_000_000
THEORY = ("test", "theory", "", "")
NORMAL = Holder("test", "theory", "root", "main", "normal", "")
QOS = (Qos("normal", LimitSet()), Qos("small", LimitSet(job_minutes={"cpu": 20})))
ACCOUNTS = (
    Association("test", "theory", "root", "", "", LimitSet(job_minutes={"cpu": 30})),
    Association("test", "theory", "", "", "physics", LimitSet(left=("GrpTRESMins",))),
    Association("test", "physics", "", "", "root", LimitSet(left=("GrpWall",))),
)


def usage(
    associations: dict[str, TimeLimits] | None = None, qos: dict[str, TimeLimits] | None = None
) -> TimeUsage:
    """Return the usage of some accounts and QOS."""
    accounts = {("test", name, "", ""): one for name, one in (associations or {}).items()}
    return TimeUsage(AT, qos or {}, accounts)


def rules(
    told: TimeUsage, *, safe: bool = False, holder: Holder = NORMAL, qos: tuple[Qos, ...] = QOS
) -> RulesNow:
    """Return the limits of a job."""
    policies = Policies(qos, ACCOUNTS, usage=told, safe=safe)
    return rules_now(policies.of(holder), policies)


def test_reading() -> None:
    """Limits with their usage; what is not limited is left out, but for what runs."""
    found = read_time_usage(ASSOC_MGR, AT)
    assert found.limited
    assert found.associations[THEORY] == TimeLimits(
        {"cpu": Metered(100, 60), "billing": Metered(500, 0)},
        {"cpu": Metered(40, 50), "billing": Metered(None, 50)},
        Metered(None, 0),
    )
    assert found.associations["test", "physics", "", ""].wall == Metered(100, 7)
    assert not found.associations["test", "theory", "root", ""].limited
    assert found.qos["small"].running == {"cpu": Metered(60, 10)}
    assert not found.qos["normal"].limited


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("slurm_load_assoc_mgr: nothing", "expected QOS and associations, found 'slurm_load_as"),
        ("QOS=a(1) GrpWall=soon", "expected GrpWall such as 100.7.50., found 'soon'"),
        ("QOS=a(1) GrpTRESMins=cpu=5", "expected a limit and usage such as cpu=40.30., found"),
    ],
)
def test_what_is_not_understood(text: str, told: str) -> None:
    """The message has what was expected and what was found."""
    with pytest.raises(ValueError, match=told):
        read_time_usage(text, AT)


def test_minutes_of_running_jobs() -> None:
    """Of 40 CPU minutes 30 are in use: a job of 2 CPUs for 6 minutes, 12, is beyond them."""
    told = usage({"theory": TimeLimits(running={"cpu": Metered(40, 30)})})
    (limit,) = rules(told).limits
    assert (limit.group, limit.counted, limit.most, limit.used) == (
        "account theory", "cpu minutes", 40, 30,
    )  # fmt: skip
    assert limit.name == "account theory: GrpTRESRunMins cpu=40"


def test_minutes_that_were_used() -> None:
    """A job starts as long as minutes are left; with `safe`, only if they suffice to its end."""
    some = usage({"theory": TimeLimits({"cpu": Metered(100, 60)}, {"cpu": Metered(None, 25)})})
    assert rules(some).limits == rules(some).spent == ()
    (limit,) = rules(some, safe=True).limits
    assert (limit.most, limit.used) == (40, 25)
    none = usage({"theory": TimeLimits({"cpu": Metered(100, 100)})})
    why = "account theory: GrpTRESMins cpu=100, of which 100 are used"
    assert rules(none).refusal({"cpu": 1}, 1, 60) == why
    # Slurm lets jobs start that do not ask for the resource.
    assert rules(none).refusal({"cpu": 0}, 1, 60) == ""


def test_wall_clock_time() -> None:
    """It concerns every job; with `safe`, a job may not be longer than what is left."""
    told = usage({"physics": TimeLimits(wall=Metered(100, 95))})
    assert rules(told).refusal({"minutes": 10}, 1, 600) == ""
    assert rules(told, safe=True).refusal({"minutes": 10}, 1, 600) == (
        "account physics: GrpWall=100 minutes, of which 95 are used, and it asks for 10"
    )
    spent = usage({"physics": TimeLimits(wall=Metered(100, 100))})
    assert rules(spent).refusal({}, 1, 60) == (
        "account physics: GrpWall=100 minutes, of which 100 are used"
    )


def test_minutes_of_a_job() -> None:
    """MaxTRESMins of the QOS replaces that of the association."""
    found = rules(usage())
    assert found.refusal({"cpu minutes": 31}, 1, 60) == (
        "user root in account theory: MaxTRESMinsPerJob cpu=30, and it asks for 31"
    )
    found = rules(usage(), holder=NORMAL._replace(qos="small"))
    assert found.refusal({"cpu minutes": 21}, 1, 60) == (
        "QOS small: MaxTRESMinsPerJob cpu=20, and it asks for 21"
    )


def test_a_qos_comes_first() -> None:
    """Its limit replaces those of all accounts; accounts do not replace each other's."""
    minutes = TimeLimits(running={"cpu": Metered(40, 0)})
    both = usage({"theory": minutes, "physics": minutes}, {"small": minutes})
    assert [one.group for one in rules(both).limits] == ["account theory", "account physics"]
    small = rules(both, holder=NORMAL._replace(qos="small"))
    assert [one.group for one in small.limits] == ["QOS small"]


def test_relative_limits() -> None:
    """Of a QOS whose limits are shares of the cluster, those over time are left to Slurm too."""
    told = usage(qos={"small": TimeLimits(running={"cpu": Metered(40, 0)})})
    small = Qos("small", LimitSet(left=("Flags=Relative",)))
    assert rules(told, holder=NORMAL._replace(qos="small"), qos=(small,)).limits == ()


def test_usage_factors() -> None:
    """Time counts times the factor: as it is used, and, if it is safe, as it is asked for."""
    half = Qos("small", LimitSet(), usage_factor=0.5)
    told = usage({"theory": TimeLimits(running={"cpu": Metered(40, 0)})})
    holder = NORMAL._replace(qos="small")
    plain = rules(told, holder=holder, qos=(half,))
    assert plain.minutes({"cpu": 2}, 10, started=None) == {"cpu minutes": 20, "minutes": 10}
    assert plain.minutes({"cpu": 2}, 10, started=AT)["cpu minutes"] == 10
    safe = rules(told, holder=holder, qos=(half._replace(usage_factor_safe=True),))
    assert safe.minutes({"cpu": 2}, 10, started=None)["cpu minutes"] == 10
    # With the factor 0 former usage does not count; a job must keep to the limit by itself.
    spent = usage({"theory": TimeLimits({"cpu": Metered(9, 9)}, {"cpu": Metered(20, 20)})})
    free = rules(spent, holder=holder, qos=(half._replace(usage_factor=0.0),))
    assert (free.limits, free.refusal({"cpu": 1, "cpu minutes": 20}, 1, 60)) == ((), "")
    assert free.refusal({"cpu": 1, "cpu minutes": 21}, 1, 60) == (
        "account theory: GrpTRESRunMins cpu=20, and it asks for 21"
    )


def test_factors_are_read() -> None:
    """From sacctmgr, as from slurmrestd."""
    row = "small|UsageFactorSafe" + "|" * (len(QOS_FIELDS) - 2) + "0.500000"
    ((found,), _) = read_qos(records_of_text(row, QOS_FIELDS))
    assert (found.usage_factor, found.usage_factor_safe) == (0.5, True)


def test_what_is_left() -> None:
    """Without usage the limits are told to be left to Slurm, with it they are not."""
    assert Policies(QOS, ACCOUNTS).warnings == (
        "the limit GrpTRESMins of account theory is left to Slurm",
        "the limit GrpWall of account physics is left to Slurm",
    )
    assert Policies(QOS, ACCOUNTS, usage=read_time_usage(ASSOC_MGR, AT)).warnings == ()


def test_jobs() -> None:
    """A waiting job counts with its time limit, a running one until its minutes are told."""
    policies = Policies(QOS, ACCOUNTS, usage=read_time_usage(ASSOC_MGR, AT))
    running = {"job_state": "RUNNING", "nodes": "c1", "tres_alloc_str": "cpu=4,mem=2G,node=1"}
    waits, new, old, endless = jobs_under(
        Rules(policies=policies),
        {"qos": "normal", "time_limit": 5},
        {**running, "qos": "normal", "time_limit": 5, "start_time": AT},
        {**running, "qos": "normal", "time_limit": 5, "start_time": AT - 1},
        {"qos": "normal", "time_limit": None},
    )
    assert (waits.usage["cpu minutes"], waits.usage["billing minutes"]) == (10, 10)
    assert waits.usage["minutes"] == 5
    assert {limit.counted for limit in waits.limits} == {"cpu minutes"}
    assert new.usage["cpu minutes"] == 20
    assert "cpu minutes" not in old.usage
    assert (endless.phase, endless.why[:53]) == (
        "blocked", "user root in account theory: MaxTRESMinsPerJob cpu=30",
    )  # fmt: skip
