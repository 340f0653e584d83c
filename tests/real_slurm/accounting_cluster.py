"""A real Slurm with accounting: slurmdbd on a MariaDB of its own, and a tree of accounts."""

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.real_slurm.cluster import NodeKind, SlurmCluster, missing

PROGRAMS = ("mariadbd", "mariadb-install-db", "slurmdbd", "sacctmgr", "sshare", "sprio", "sacct")
NODES = (NodeKind("c[1-2]", 16, 64000),)
"""Two nodes of one kind."""


def missing_accounting() -> str:
    """Return why no Slurm with accounting can be started here; nothing if one can."""
    lacking = [name for name in PROGRAMS if shutil.which(name) is None]
    return missing() or (f"there is no {', '.join(lacking)}" if lacking else "")


class AccountingCluster(SlurmCluster):
    """A running Slurm with slurmdbd, while its context is open.

    Parameters
    ----------
    folder
        Folder for its files.
    settings
        Further lines of `slurm.conf`; they replace those with the same key.
    """

    more_ports = 2

    def __init__(self, folder: Path, settings: Sequence[str] = ()) -> None:
        super().__init__(folder, NODES, held=False)
        self._settings = tuple(settings)
        self._database: subprocess.Popen[bytes] | None = None
        self._daemon: subprocess.Popen[bytes] | None = None

    def start_controller(self, *, clean: bool = True) -> None:
        """Start the database and slurmdbd before the first start of slurmctld."""
        if self._database is None:
            self._start_database()
            self._start_daemon()
        super().start_controller(clean=clean)

    def sacctmgr(self, *arguments: str) -> str:
        """Change or print something in the database, without a question."""
        return self.run("sacctmgr", "--immediate", *arguments)

    def submit_as(self, user: str, account: str, seconds: float, *options: str) -> str:
        """Submit a job that sleeps as a user, charged to an account, and return its number."""
        return self.submit(
            seconds, f"--uid={user}", f"--account={account}", "--chdir=/tmp", *options
        )

    def _start_database(self) -> None:
        data = self.folder / "db"
        self.run(
            "mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={data}",
            "--auth-root-authentication-method=normal", "--skip-test-db",
        )  # fmt: skip
        socket_path = self.folder / "state" / "db.sock"
        self._database = self._background(
            "db.log", "mariadbd", "--no-defaults", "--user=root", f"--datadir={data}",
            f"--socket={socket_path}", f"--port={self._ports[-2]}", "--bind-address=127.0.0.1",
            "--innodb-lock-wait-timeout=900", "--innodb-buffer-pool-size=64M",
            "--innodb-log-file-size=8M", "--innodb-flush-log-at-trx-commit=0",
        )  # fmt: skip
        self.wait_until(socket_path.exists)

    def _start_daemon(self) -> None:
        file = self.folder / "etc" / "slurmdbd.conf"
        file.touch(mode=0o600)
        file.write_text("".join(f"{line}\n" for line in self._daemon_lines()))
        self._daemon = self._background("slurmdbd.log", "slurmdbd", "-D")
        self.wait_until(self._answers)
        self.sacctmgr("add", "cluster", "test")

    def _answers(self) -> bool:
        return "Cluster" in self.run("sacctmgr", "show", "cluster", check=False)

    def _background(self, log: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.folder / "log" / log).open("ab") as file:
            return subprocess.Popen(
                arguments, env=self.environment, stdout=file, stderr=file, stdin=subprocess.DEVNULL
            )

    def _daemon_lines(self) -> Iterable[str]:
        folder = self.folder
        yield from (
            "AuthType=auth/munge",
            f"AuthInfo=socket={folder}/munge/munge.socket",
            "AuthAltTypes=auth/jwt",
            f"AuthAltParameters=jwt_key={folder}/etc/jwt.key",
            "DbdHost=localhost",
            f"DbdPort={self._ports[-1]}",
            "SlurmUser=root",
            f"PidFile={folder}/state/slurmdbd.pid",
            "StorageType=accounting_storage/mysql",
            "StorageHost=127.0.0.1",
            f"StoragePort={self._ports[-2]}",
            "StorageUser=root",
            "StorageLoc=slurm_acct_db",
        )

    def _lines(self) -> Iterable[str]:
        replaced = [
            "AccountingStorageType=accounting_storage/slurmdbd",
            "AccountingStorageHost=localhost",
            f"AccountingStoragePort={self._ports[-1]}",
            f"AccountingStoragePass={self.folder}/munge/munge.socket",
            "AccountingStorageEnforce=associations",
            "PriorityType=priority/multifactor",
            *self._settings,
        ]
        keys = {line.partition("=")[0] for line in replaced}
        yield from (line for line in super()._lines() if line.partition("=")[0] not in keys)
        yield from replaced

    def _stop(self) -> None:
        super()._stop()
        for process in (self._daemon, self._database):
            if process is not None:
                process.terminate()
                process.wait()
