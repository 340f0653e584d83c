"""Rules are read at intervals, and what cannot be read is left to Slurm."""

from typing import Any

from hpcsched.system.cluster import UnavailableError
from hpcsched.system.limits import Holder
from hpcsched.system.policies import Policies
from hpcsched_slurm import licenses as reading
from hpcsched_slurm.rules_reading import RulesReader
from hpcsched_slurm.time_limits import rules_now


class Told:
    """Calls with a partition, a licence and a QOS; `away` is what does not answer."""

    def __init__(self, *, enforced: str | None = "limits") -> None:
        self._enforced, self.away, self.asked = enforced, "", list[str]()
        self.usage = "QOS=small(2) GrpWall=N(0.00)"

    def partitions(self) -> list[Any]:
        """Return a partition."""
        return self._answer("partitions", {"partitionname": "main", "maxnodes": "2"})

    def lists_subaccounts(self) -> bool:
        """Return what later versions do."""
        return True

    def licenses(self) -> list[Any]:
        """Return a licence."""
        return self._answer("licenses", {"LicenseName": "matlab", "Total": 3, "Reserved": 1})

    def qos(self) -> list[Any]:
        """Return a QOS."""
        return self._answer("qos", {"Name": "small", "Flags": "", "LimitFactor": ""})

    def associations(self) -> list[Any]:
        """Return none."""
        return self._answer("associations")

    def enforced(self) -> frozenset[str] | None:
        """Return what Slurm enforces."""
        return None if self._enforced is None else frozenset(self._enforced.split(","))

    def time_usage(self) -> str:
        """Return the usage of the QOS."""
        self._answer("usage")
        return self.usage

    def _answer(self, what: str, *listed: dict[str, Any]) -> list[Any]:
        self.asked.append(what)
        if what == self.away:
            raise UnavailableError("slurmrestd: 500")
        return list(listed)


def test_intervals() -> None:
    """Partitions and licences every ten seconds, accounting every minute."""
    calls = Told()
    reader = RulesReader(calls, limits=True)
    for now in (0.0, 5.0, 10.0, 60.0):
        rules, troubles = reader.read(now, accounts=True)
    assert troubles == ()
    assert isinstance(rules.policies, Policies)
    assert rules.partitions.limits["main"].max_nodes == 2
    assert rules.subaccounts
    assert rules.licenses.present == {"license_matlab": 2}
    assert calls.asked == [
        "partitions", "licenses", "qos", "associations", "usage", "partitions", "licenses",
        "partitions", "licenses", "qos", "associations", "usage",
    ]  # fmt: skip


def test_limits_that_slurm_does_not_enforce() -> None:
    """They are not read; nor are they where a parameter says so. Unknown, they are."""
    cases = (("associations,qos", True, False), ("limits", False, False), (None, True, True))
    for enforced, limits, read in cases:
        calls = Told(enforced=enforced)
        rules, _ = RulesReader(calls, limits=limits).read(0.0, accounts=True)
        assert (rules.policies is not None, "qos" in calls.asked) == (read, read)


def test_without_accounting() -> None:
    """Where no job has an account, nobody is asked for limits; they are as soon as one has."""
    calls = Told(enforced=None)
    reader = RulesReader(calls, limits=True)
    assert reader.read(0.0, accounts=False)[0].policies is None
    assert "qos" not in calls.asked
    assert reader.read(1.0, accounts=True)[0].policies is not None


def test_what_cannot_be_read() -> None:
    """It stays as it was, and a sentence says so until it can be read again."""
    calls = Told()
    reader = RulesReader(calls, limits=True)
    reader.read(0.0, accounts=True)
    calls.away = "licenses"
    rules, troubles = reader.read(10.0, accounts=True)
    assert rules.licenses.present == {"license_matlab": 2}
    assert troubles == ("licences cannot be read, and are left to Slurm: slurmrestd: 500",)
    calls.away = ""
    assert reader.read(20.0, accounts=True)[1] == ()


def test_licences() -> None:
    """What is reserved or used up elsewhere is not there; text and JSON tell the same."""
    text = (
        "LicenseName=comsol Total=5 Used=2 Free=3 Reserved=0 Remote=no\n"
        "LicenseName=Mat@flex Total=9 Used=0 Free=9 Reserved=2 Remote=yes LastConsumed=0"
        " LastDeficit=3\n"
    )
    found = reading.read_licenses(reading.licenses_of_text(text))
    assert found.present == {"license_comsol": 5, "license_mat_flex": 4}
    odd = reading.read_licenses([{"LicenseName": "x"}])
    assert odd.warnings == ("the licence x is not understood, and left to Slurm: no field Total",)
    local = reading.read_licenses([{"LicenseName": "x", "Total": 3, "Nodes": "c[1-3]"}])
    assert local == reading.Licenses(
        {},
        (
            "the licence x is not understood, and left to Slurm: it is for jobs on the nodes c[1-3]"
            " alone",
        ),
    )
    assert reading.licenses_of_text("No licenses configured in Slurm.\n") == []


SMALL = Holder("test", "theory", "root", "main", "small", "")


def test_usage_of_limits_over_time() -> None:
    """It is read every ten seconds where there is such a limit; `safe` counts what may be used."""
    calls = Told(enforced="associations,limits,safe")
    calls.usage = "QOS=small(2) GrpWall=N(0.00) GrpTRESMins=cpu=100(60) GrpTRESRunMins=cpu=N(10)"
    reader = RulesReader(calls, limits=True)
    for now in (0.0, 9.0, 10.0):
        rules, _ = reader.read(now, accounts=True)
    assert calls.asked.count("usage") == 2
    assert rules.policies is not None
    (limit,) = rules_now(rules.policies.of(SMALL), rules.policies).limits
    assert (limit.counted, limit.most, limit.used) == ("cpu minutes", 40, 10)


def test_usage_that_cannot_be_read() -> None:
    """One sentence says which limits are left to Slurm; former usage does not count on."""
    calls = Told()
    calls.usage = "QOS=small(2) GrpWall=100(100.00)"
    reader = RulesReader(calls, limits=True)
    first, _ = reader.read(0.0, accounts=True)
    assert first.policies is not None
    assert rules_now(first.policies.of(SMALL), first.policies).spent
    calls.away = "usage"
    rules, troubles = reader.read(10.0, accounts=True)
    assert troubles == (
        "the usage that counts against GrpTRESMins, GrpTRESRunMins, GrpWall cannot be read, and"
        " these limits are left to Slurm: slurmrestd: 500",
    )
    assert rules.policies is not None
    assert not rules_now(rules.policies.of(SMALL), rules.policies).spent
    calls.away = ""
    rules, troubles = reader.read(20.0, accounts=True)
    assert troubles == ()
    assert rules.policies is not None
    assert rules_now(rules.policies.of(SMALL), rules.policies).spent
