"""QOS and associations that Slurm enforces, and which limits a job must keep to."""

from collections.abc import Iterable, Iterator

from hpcsched_slurm.job_limits import JobLimits, JobRules
from hpcsched_slurm.policy_reading import Association, Holder, Qos
from hpcsched_slurm.time_limits import TIME_LIMITS, TimeUsage


class Policies:
    """All QOS and associations that Slurm enforces.

    Attributes
    ----------
    warnings
        Sentences about limits that are left to Slurm.

    Parameters
    ----------
    warnings
        Sentences about those that are not understood.
    usage
        Limits over time and usage; without it, they are left to Slurm.
    safe
        Whether Slurm starts a job only if it cannot use up such a limit before it ends.
    """

    def __init__(
        self,
        qos: Iterable[Qos] = (),
        associations: Iterable[Association] = (),
        warnings: Iterable[str] = (),
        *,
        usage: TimeUsage | None = None,
        safe: bool = False,
    ) -> None:
        self._qos = {one.name: one for one in qos}
        self._associations = {
            (one.cluster, one.account, one.user, one.partition): one for one in associations
        }
        self._known: dict[Holder, JobRules] = {}
        self._usage = TimeUsage(0.0, {}, {}) if usage is None else usage
        self._safe = safe
        self.warnings = (*warnings, *self._left())

    def of(self, holder: Holder) -> JobRules:
        """Return the limits of the jobs of a holder."""
        found = self._known.get(holder)
        if found is None:
            found = self._known[holder] = self._rules(holder)
        return found

    def _rules(self, holder: Holder) -> JobRules:
        first, second = self._qos.get(holder.partition_qos), self._qos.get(holder.qos)
        if second is not None and second.over_partition:
            first, second = second, first
        both = [one for one in (first, second) if one is not None]
        if len(both) == 2 and both[0].name == both[1].name:
            both.pop()
        made = JobLimits(self._qos.get(holder.qos), safe=self._safe)
        for qos in both:
            made.add_qos(qos, holder)
            limits = self._usage.qos.get(qos.name)
            # Of a QOS whose limits are shares, nothing is kept.
            made.add_time(f"QOS {qos.name}", None if qos.relative else limits, of_qos=True)
        factor = next((one.factor for one in both if one.factor is not None), 1.0)
        chain = self._chain(holder)
        for k, association in enumerate(chain):
            made.add_association(association, factor, itself=not k)
            limits = self._usage.associations.get(association[:4])
            made.add_time(association.words, limits, of_qos=False)
        return made.found(int(self._usage.at))

    def _chain(self, holder: Holder) -> list[Association]:
        """Return the association of a job and those of its account and all above it."""
        found = []
        for partition in (holder.partition, ""):
            own = self._associations.get((holder.cluster, holder.account, holder.user, partition))
            if own is not None:
                found.append(own)
                break
        return [*found, *self._accounts(holder.cluster, holder.account)]

    def accounts_above(self, cluster: str, account: str) -> frozenset[str] | None:
        """Return the names of the accounts above one; None if it is not known."""
        found = frozenset(one.account for one in self._accounts(cluster, account))
        return found - {account} if account in found else None

    def _accounts(self, cluster: str, account: str) -> Iterator[Association]:
        """Yield the association of an account and those above it."""
        seen = set[str]()
        while account and account not in seen:
            seen.add(account)
            found = self._associations.get((cluster, account, "", ""))
            if found is None:
                break
            yield found
            account = found.parent

    def _left(self) -> Iterable[str]:
        """Yield a sentence about each kind of limit that is set and left to Slurm."""
        by_limit: dict[str, list[str]] = {}
        owners = [
            *((f"QOS {one.name}", one.limits, name in self._usage.qos)
              for name, one in self._qos.items()),
            *((one.words, one.limits, key in self._usage.associations)
              for key, one in self._associations.items()),
        ]  # fmt: skip
        for who, limits, told in owners:
            for name in limits.left:
                if not (told and name in TIME_LIMITS):
                    by_limit.setdefault(name, []).append(who)
        for name, named in by_limit.items():
            shown = ", ".join(named[:3])
            more = f" and {len(named) - 3} others" if len(named) > 3 else ""
            yield f"the limit {name} of {shown}{more} is left to Slurm"
