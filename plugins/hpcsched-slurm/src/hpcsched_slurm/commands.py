"""Slurm through its commands, where there is no slurmrestd.

Commands are started with lists of arguments, never through a shell.
"""

import json
import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from hpcsched import Finding, InputError
from hpcsched.system.cluster import RefusedError, UnavailableError
from hpcsched_slurm.arrays import checked_key
from hpcsched_slurm.credentials import VARIABLE, Token, errors_in_words
from hpcsched_slurm.licenses import licenses_of_text
from hpcsched_slurm.params import SlurmParams
from hpcsched_slurm.policy_reading import ASSOCIATION_FIELDS, QOS_FIELDS, Record, records_of_text
from hpcsched_slurm.reservations import reservations_of_text
from hpcsched_slurm.syntax.slurm_lines import pairs_of, state_blocks
from hpcsched_slurm.versions import AS_OLDEST, OLDEST, check_version, plain_jobs, plain_nodes

_NODES = re.compile(r"[A-Za-z0-9._,\-]*")
_NODES_COMMANDS = (["sinfo", "--json"], ["scontrol", "show", "nodes", "--json"])
"""What lists nodes: the first does in Slurm 22.05, which lacks the second."""
_CONFIG = "SLURM_CONF"
_ENFORCED = re.compile(r"^AccountingStorageEnforce\s*=\s*(\S*)", re.M)
_DOWN = re.compile(r"unable to contact|timed out|connection refused|connect failure", re.I)


class Commands:
    """The commands of Slurm; raises InputError where one is missing."""

    def __init__(self, params: SlurmParams, token: Token | None = None) -> None:
        """Prepare the commands.

        Parameters
        ----------
        token
            Token with whose rights the commands act; None: with those of the process.
        """
        self._timeout = params.timeout
        self._environment = dict(os.environ)
        if token is not None:
            self._environment[VARIABLE] = token.reveal()
        self._environment["SLURM_TIME_FORMAT"] = "standard"
        if params.config is not None:
            self._environment[_CONFIG] = params.config
        named = self._environment.get(_CONFIG)
        self._config = "Slurm's own slurm.conf" if named is None else named
        self._nodes_command = _NODES_COMMANDS[0]
        self._version = OLDEST

    def jobs(self) -> list[Mapping[str, Any]]:
        """Return all jobs that Slurm still knows; raises UnavailableError without an answer."""
        content = self._content(["squeue", "--json", "--states=all"])
        self._version, jobs = _listed(content, "jobs", "squeue")
        return plain_jobs(self._version, jobs)

    def nodes(self) -> list[Mapping[str, Any]]:
        """Return all nodes; raises UnavailableError without an answer."""
        content = self._content(self._nodes_command)
        if "nodes" not in content and "sinfo" in content:
            self._nodes_command = _NODES_COMMANDS[1]
            content = self._content(self._nodes_command)
        return plain_nodes(*_listed(content, "nodes", self._nodes_command[0]))

    def partitions(self) -> list[Mapping[str, str]]:
        """Return all partitions; raises UnavailableError without an answer."""
        # Its text is the same in all versions; Slurm 22.05 has no JSON of partitions.
        text = self._text(["scontrol", "show", "partitions"])
        return [pairs_of(block.text) for block in state_blocks(text)]

    def lists_subaccounts(self) -> bool:
        """Return whether lists of accounts include the accounts below, as in later versions.

        The version is that of the jobs which were read last.
        """
        return self._version not in AS_OLDEST

    def reservations(self) -> list[Mapping[str, Any]]:
        """Return all reservations; raises UnavailableError without an answer."""
        return reservations_of_text(self._text(["scontrol", "show", "reservations", "--oneliner"]))

    def licenses(self) -> list[Mapping[str, Any]]:
        """Return all licences; raises UnavailableError without an answer."""
        return licenses_of_text(self._text(["scontrol", "show", "licenses", "--oneliner"]))

    def qos(self) -> list[Record]:
        """Return all QOS of the accounting; raises UnavailableError without an answer."""
        return self._accounting("qos", QOS_FIELDS)

    def associations(self) -> list[Record]:
        """Return all associations of the accounting; raises UnavailableError without an answer."""
        return self._accounting("associations", ASSOCIATION_FIELDS)

    def _accounting(self, what: str, fields: Mapping[str, str]) -> list[Record]:
        form = f"format={','.join(fields)}"
        text = self._text(["sacctmgr", "--parsable2", "--noheader", "show", what, form])
        return records_of_text(text, fields)

    def enforced(self) -> frozenset[str] | None:
        """Return the words of `AccountingStorageEnforce`, in lower case; None if unknown."""
        found = _ENFORCED.search(self._text(["scontrol", "show", "config"]))
        return None if found is None else frozenset(found[1].lower().split(","))

    def time_usage(self) -> str:
        """Return the limits over time of all QOS and associations, with their usage."""
        flags = "flags=assoc,qos"
        return self._text(["scontrol", "--oneliner", "show", "assoc_mgr", flags])

    def place(self, key: str, nodes: str) -> None:
        """Bind a job to nodes, none if the text is empty, and let it start."""
        self._scontrol(
            "update", f"JobId={checked_key(key)}", f"ReqNodeList={_checked_nodes(nodes)}"
        )
        self._scontrol("release", checked_key(key))

    def hold(self, key: str) -> None:
        """Hold a job, bound to no node."""
        self._scontrol("hold", checked_key(key))
        self._scontrol("update", f"JobId={checked_key(key)}", "ReqNodeList=")

    def _scontrol(self, *arguments: str) -> None:
        done = self._run(["scontrol", *arguments])
        if done.returncode:
            said = " ".join((done.stderr or done.stdout).split())
            if _DOWN.search(said):
                raise UnavailableError(f"scontrol: {said}")
            raise RefusedError(f"scontrol: {said}")

    def _content(self, arguments: Sequence[str]) -> Mapping[str, Any]:
        """Return the object that a command prints."""
        try:
            content = json.loads(self._text(arguments))
        except ValueError as error:
            raise UnavailableError(f"{arguments[0]}: not the JSON expected: {error}") from error
        if not isinstance(content, dict):
            raise UnavailableError(f"{arguments[0]}: not the JSON expected: no object")
        # Without slurmctld, Slurm 22.05 prints an empty list beside the error, and exits with 0.
        errors = errors_in_words(content)
        if errors:
            raise self._unavailable(arguments, errors)
        return content

    def _text(self, arguments: Sequence[str]) -> str:
        """Return the text that a command prints."""
        done = self._run(arguments)
        if done.returncode:
            raise self._unavailable(arguments, " ".join(done.stderr.split()))
        return done.stdout

    def _unavailable(self, arguments: Sequence[str], why: str) -> UnavailableError:
        """Return the error of a command that did not get an answer from Slurm."""
        return UnavailableError(
            f"{' '.join(arguments)}: {why}; check with `scontrol ping` that slurmctld runs, and"
            f" that {self._config} is its configuration"
        )

    def _run(self, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        try:
            # Of a session of its own: Ctrl-C at the terminal must not cut a change short.
            process = subprocess.Popen(
                arguments,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        except OSError as error:
            message = f"{arguments[0]} cannot be started: {error.strerror}"
            raise InputError(Finding("no-command", message)) from error
        with process:
            try:
                out, err = process.communicate(timeout=self._timeout)
            except subprocess.TimeoutExpired as error:
                _kill(process)
                why = f"no answer within {self._timeout} s"
                raise self._unavailable(arguments, why) from error
            except BaseException:
                _kill(process)
                raise
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill a command and its children: a script of the site may stand for the command."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def check_config(params: SlurmParams) -> None:
    """Check that the configuration for Slurm's commands is a file, where one is named.

    Raises
    ------
    InputError
        If it is none: the commands themselves would look for it for a minute.
    """
    path = params.config or os.environ.get(_CONFIG)
    if path and not Path(path).is_file():
        source = "'config'" if params.config else f"the variable {_CONFIG}"
        message = f"expected Slurm's slurm.conf as {source} names it, found no file {path}"
        raise InputError(Finding("no-config", message))


def _listed(content: Mapping[str, Any], what: str, who: str) -> tuple[int, list[Mapping[str, Any]]]:
    """Return the version of the output of a command, and a list in it."""
    found = content.get(what)
    if not isinstance(found, list):
        raise UnavailableError(f"{who}: the answer has no list of {what}")
    return check_version(content, f"{who} --json"), found


def _checked_nodes(nodes: str) -> str:
    if not _NODES.fullmatch(nodes):
        raise RefusedError(f"{nodes!r} are no names of nodes")
    return nodes
