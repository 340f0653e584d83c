"""Rules are read at intervals, and what cannot be read is left to Slurm."""

from typing import Any

from hpcsched.system.cluster import UnavailableError
from hpcsched_slurm import licenses as reading
from hpcsched_slurm.policies import Policies
from hpcsched_slurm.rules_reading import RulesReader


class Told:
    """Calls with a partition, a licence and a QOS; `away` is what does not answer."""

    def __init__(self, *, enforced: bool | None = True) -> None:
        self.enforced, self.away, self.asked = enforced, "", list[str]()

    def partitions(self) -> list[Any]:
        """Return a partition."""
        return self._answer("partitions", {"partitionname": "main", "maxnodes": "2"})

    def licenses(self) -> list[Any]:
        """Return a licence."""
        return self._answer("licenses", {"LicenseName": "matlab", "Total": 3, "Reserved": 1})

    def qos(self) -> list[Any]:
        """Return a QOS."""
        return self._answer("qos", {"Name": "small", "Flags": "", "LimitFactor": ""})

    def associations(self) -> list[Any]:
        """Return none."""
        return self._answer("associations")

    def enforces_limits(self) -> bool | None:
        """Return whether Slurm enforces limits."""
        return self.enforced

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
    assert rules.licenses.present == {"license_matlab": 2}
    assert calls.asked == [
        "partitions", "licenses", "qos", "associations", "partitions", "licenses",
        "partitions", "licenses", "qos", "associations",
    ]  # fmt: skip


def test_limits_that_slurm_does_not_enforce() -> None:
    """They are not read; nor are they where a parameter says so. Unknown, they are."""
    for enforced, limits, read in ((False, True, False), (True, False, False), (None, True, True)):
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
