"""Conversion of local times in a log to Unix times, across changes of the clocks."""

import re
from datetime import datetime, tzinfo

from hpcsched.parameters import LARGEST
from hpcsched.workload.readers.policies import UnusableError
from hpcsched.workload.readers.quantities import WholeSeconds, unix_time

_UNIX = re.compile(r"[0-9]{1,16}(\.[0-9]{1,9})?")
_ISO = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?"
    r"(?P<offset>Z|[+-][0-9]{2}:?[0-9]{2})?"
)


_CLOCK_TIME = re.compile(r"[0-9]{1,2}:[0-9]{2}")


class NoZoneError(UnusableError):
    """Local time without a time zone to interpret it."""

    def __init__(self, text: str) -> None:
        super().__init__(
            "missing_time_zone",
            f"{text!r} is a local time: expected 'time_zone' of the trace to name the zone",
        )


class LocalClock:
    """Reader of Unix times, times with an offset, and local times of one zone.

    In the hour that clocks show twice in autumn, a local time means the first of its two instants,
    unless that is before an instant that it must not precede: then the second.

    Parameters
    ----------
    zone
        The zone of local times; None: there are none.
    seconds
        Reader of times, with the policy for fractions.

    Attributes
    ----------
    ambiguous
        Number of such times so far.
    """

    def __init__(self, zone: tzinfo | None, seconds: WholeSeconds) -> None:
        self._zone = zone
        self._whole = seconds
        self.ambiguous = 0

    def instant(self, text: str, not_before: int | None = None) -> int:
        """Return the Unix time of a text, in seconds.

        Parameters
        ----------
        text
            A Unix time, or an ISO 8601 time.
        not_before
            Unix time that the result must not precede, such as the job's submission; None: any.

        Raises
        ------
        NoZoneError
            If the text is a local time and no zone is known.
        UnusableError
            If the policy does not round a fraction of a second.
        ValueError
            If the text is no time, or a local time that clocks skipped in spring.
        """
        if _UNIX.fullmatch(text):
            if float(text) > LARGEST:
                raise ValueError(f"expected a time of at most {LARGEST}, found {text!r}")
            return self._whole.instant(text)
        match = _ISO.fullmatch(text)
        if match is None:
            raise ValueError(
                f"expected a time such as 2024-03-01T12:00:00, found {text!r}{_hint(text)}"
            )
        try:
            shown = datetime.fromisoformat(text)
        except ValueError as error:
            raise ValueError(f"{text!r} is no time: {error}") from None
        if match["offset"]:
            return self._seconds(shown, text)
        if self._zone is None:
            raise NoZoneError(text)
        return self._local(shown.replace(tzinfo=self._zone), text, not_before)

    def _local(self, first: datetime, text: str, not_before: int | None) -> int:
        second = first.replace(fold=1)
        before, after = first.utcoffset(), second.utcoffset()
        if before == after or before is None or after is None:
            return self._seconds(first, text)
        # The offset grows in spring: times between are skipped. It shrinks in autumn: times repeat.
        if before < after:
            raise ValueError(
                f"clocks of {self._zone} were put forward and did not show {text!r}; is it the"
                " time zone of the log?"
            )
        self.ambiguous += 1
        instant = self._seconds(first, text)
        if not_before is not None and instant < not_before:
            return self._seconds(second, text)
        return instant

    def _seconds(self, shown: datetime, text: str) -> int:
        try:
            seconds = unix_time(shown)
        except (ValueError, OverflowError):
            raise ValueError(f"{text!r} is out of range") from None
        if seconds < 0:
            raise ValueError(f"expected a time from 1970 on, found {text!r}")
        return self._whole.instant(seconds)


def _hint(text: str) -> str:
    """Return advice about a time in a form that the user chose for `sacct`."""
    if _CLOCK_TIME.search(text) is None:
        return ""
    return " (a form of SLURM_TIME_FORMAT: unset it for sacct, or set it to %s)"
