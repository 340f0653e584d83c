"""Slurm's accounting on this machine: MariaDB and slurmdbd, in a folder of their own, on loopback.

It needs root and Debian's packages `slurmdbd`, `mariadb-server` and `slurm-wlm-mysql-plugin`.
"""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

PROGRAMS = ("slurmdbd", "sacctmgr", "mariadbd", "mariadb-install-db")


def missing() -> str:
    """Return why there can be no accounting here; nothing if there can."""
    lacking = [name for name in PROGRAMS if shutil.which(name) is None]
    return f"there is no {', '.join(lacking)}" if lacking else ""


class Accounting:
    """A database and slurmdbd beside a Slurm, between `start` and `stop`.

    Parameters
    ----------
    folder
        Folder of the Slurm, with `etc/jwt.key` and munge's socket.
    ports
        Two free ports.
    run
        Function that runs a command with the environment of the Slurm.
    environment
        Environment of the Slurm.
    """

    def __init__(
        self,
        folder: Path,
        ports: tuple[int, int],
        run: Callable[..., str],
        environment: Mapping[str, str],
    ) -> None:
        self._folder = folder
        self._port, self._database_port = ports
        self._run = run
        self._environment = dict(environment)
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Start both daemons, and make the cluster known."""
        data, temporary = self._folder / "mariadb", self._folder / "mariadb-tmp"
        # MariaDB removes what it finds of temporary tables as it starts, also those of another.
        temporary.mkdir()
        self._run(
            "mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={data}",
            f"--tmpdir={temporary}", "--auth-root-authentication-method=normal", "--skip-test-db",
        )  # fmt: skip
        self._spawn(
            self._database_port, "mariadbd", "--no-defaults", "--user=root", f"--datadir={data}",
            f"--tmpdir={temporary}", f"--socket={data}/s.sock", f"--port={self._database_port}",
            f"--pid-file={data}/pid",
            "--bind-address=127.0.0.1", "--innodb-lock-wait-timeout=900",
        )  # fmt: skip
        file = self._folder / "etc" / "slurmdbd.conf"
        file.touch(mode=0o600)
        file.write_text("".join(f"{line}\n" for line in self._lines()))
        self._spawn(self._port, "slurmdbd", "-D")
        self._run("sacctmgr", "-i", "add", "cluster", "test")

    def stop(self) -> None:
        """Stop both daemons."""
        for process in reversed(self._processes):
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
            process.wait()
        self._processes.clear()

    def slurm_lines(self, enforce: str) -> Iterator[str]:
        """Yield the lines of `slurm.conf` that name the accounting.

        Parameters
        ----------
        enforce
            Value of `AccountingStorageEnforce`.
        """
        yield "AccountingStorageType=accounting_storage/slurmdbd"
        yield "AccountingStorageHost=127.0.0.1"
        yield f"AccountingStoragePort={self._port}"
        yield f"AccountingStoragePass={self._folder}/munge/munge.socket"
        yield "AccountingStorageTRES=gres/gpu"
        yield f"AccountingStorageEnforce={enforce}"

    def _lines(self) -> Iterator[str]:
        folder = self._folder
        yield f"DbdHost={socket.gethostname()}"
        yield "DbdAddr=127.0.0.1"
        yield f"DbdPort={self._port}"
        yield "SlurmUser=root"
        yield "AuthType=auth/munge"
        yield f"AuthInfo=socket={folder}/munge/munge.socket"
        yield "AuthAltTypes=auth/jwt"
        yield f"AuthAltParameters=jwt_key={folder}/etc/jwt.key"
        yield "StorageType=accounting_storage/mysql"
        yield "StorageHost=127.0.0.1"
        yield f"StoragePort={self._database_port}"
        yield "StorageUser=root"
        yield f"LogFile={folder}/log/dbd.log"
        yield f"PidFile={folder}/state/dbd.pid"

    def _spawn(self, port: int, *arguments: str, seconds: float = 60) -> None:
        """Start a daemon, and wait until it listens at a port."""
        path = self._folder / "log" / f"{arguments[0]}.out"
        with path.open("ab") as log:
            process = subprocess.Popen(
                arguments, env=self._environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
        self._processes.append(process)
        end = time.monotonic() + seconds
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return
            alive = process.poll() is None and time.monotonic() < end
            assert alive, f"{arguments[0]} does not listen at {port}:\n{path.read_text()[-2000:]}"
            time.sleep(0.2)
