"""Slurmdbd's answer on completed jobs, and the time that is asked for."""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hpcsched import Finding, InputError, Place, TraceAnswer
from hpcsched.system.cluster import UnavailableError
from hpcsched_slurm.accounting_records import record_of
from hpcsched_slurm.params import DAYS, SlurmHistoryParams, SlurmParams, instant_of

_DAY = 86_400


class AccountingAnswer(NamedTuple):
    """Answer of slurmdbd.

    Attributes
    ----------
    records
        Records of jobs in the terms of sacct; None for one that is none.
    hashed
        The records as a run records them.
    """

    records: Sequence[Mapping[str, str] | None]
    hashed: TraceAnswer


def ask_accounting(rest: str, question: SlurmHistoryParams) -> AccountingAnswer:
    """Ask slurmdbd for the jobs of a time.

    Parameters
    ----------
    rest
        Where slurmrestd listens.
    question
        The token, and the time.

    Raises
    ------
    InputError
        If there is no answer, or the token or the version is not accepted.
    """
    records = list(map(record_of, whole_answer(rest, question)["jobs"]))
    # Other parts of the answer differ at each call, also of jobs that have ended.
    content = json.dumps(records, sort_keys=True, separators=(",", ":")).encode()
    return AccountingAnswer(records, TraceAnswer(f"{rest}/slurmdb/jobs", content))


def earlier_answer(answer: TraceAnswer) -> AccountingAnswer:
    """Return the answer that an earlier run was made from.

    Parameters
    ----------
    answer
        The answer as that run recorded it.

    Raises
    ------
    InputError
        If it is no list of records.
    """
    try:
        records = json.loads(answer.content)
    except (ValueError, RecursionError):
        records = None
    if not isinstance(records, list) or not all(map(_is_record, records)):
        message = "the kept answer of slurmdbd is damaged: expected a list of records of jobs"
        raise InputError(Finding("malformed", message, Place(answer.name)))
    return AccountingAnswer(records, answer)


def _is_record(found: object) -> bool:
    if found is None:
        return True
    return isinstance(found, dict) and all(isinstance(value, str) for value in found.values())


def whole_answer(rest: str, question: SlurmHistoryParams) -> Mapping[str, Any]:
    """Ask as `ask_accounting` does, and return the answer as it is.

    Raises
    ------
    InputError
        If there is no answer, or the token or the version is not accepted.
    """
    from hpcsched_slurm.rest import Rest  # noqa: PLC0415 (a history in a file asks nobody)

    params = SlurmParams(
        rest=rest,
        token_file=question.token_file,
        user=question.user,
        timeout=question.timeout,
    )
    until = None if question.until is None else instant_of(question.until)
    if question.since is not None:
        begin = instant_of(question.since)
    else:
        days = DAYS if question.days is None else question.days
        begin = int((time.time() if until is None else until) - days * _DAY)
    try:
        return Rest(params).accounting(begin, until)
    except UnavailableError as error:
        raise InputError(Finding("no-answer", str(error))) from error
