"""A real Slurm of several nodes on this machine, in a folder of its own, on loopback only.

It needs root and Debian's packages (`make test-slurm` says which). Every process that is started is
ended by its number.
"""

import importlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from tempfile import gettempdir
from types import ModuleType, TracebackType
from typing import Any, NamedTuple, Self, TextIO

from hpcsched.system.host_lists import expand
from tests.real_slurm.accounting import Accounting

PROGRAMS = ("munged", "mungekey", "slurmctld", "slurmd", "slurmrestd", "squeue", "scontrol")
PLUGIN = Path(__file__).parents[2] / "plugins" / "hpcsched-slurm" / "src"
HOOK = PLUGIN / "hpcsched_slurm" / "etc" / "job_submit.lua"
NOBODY = 65534


class NodeKind(NamedTuple):
    """Identical nodes: their names as Slurm writes them, cores, MiB of memory, GPUs of a type."""

    names: str
    cores: int
    memory: int
    gpus: int = 0
    gpu_type: str = "a100"


SIX = (NodeKind("c[1-3]", 16, 64000), NodeKind("g[1-3]", 8, 128000, 4))
"""Six nodes of two kinds."""
TWO_GPU_TYPES = (
    NodeKind("c[1-3]", 16, 64000),
    NodeKind("g[1-2]", 8, 128000, 4),
    NodeKind("t1", 8, 128000, 4, "2080ti"),
)
"""Six nodes of three kinds; the name of a GPU type begins with a digit, as `2080ti` does."""


def missing() -> str:
    """Return why no Slurm can be started here; nothing if one can."""
    lacking = [name for name in PROGRAMS if shutil.which(name) is None]
    if lacking:
        return f"there is no {', '.join(lacking)}"
    return "" if os.geteuid() == 0 else "it takes root"


class SlurmCluster:
    """A running Slurm, while its context is open.

    Partition `main` is held for hpcsched by the hook that the plugin ships, `other` is Slurm's own;
    both have all nodes. Without `held`, the hook is left out. With accounting, `enforce` is what
    Slurm enforces of it, such as `limits,qos`. `more` are further lines of `slurm.conf`. A job that
    is put back into the queue waits for `expire` seconds, until its credential has expired.
    """

    def __init__(
        self,
        folder: Path,
        kinds: Sequence[NodeKind] = SIX,
        *,
        held: bool = True,
        enforce: str | None = None,
        more: Sequence[str] = (),
        expire: int = 40,
    ) -> None:
        self.folder = folder
        self._kinds = kinds
        self._held = held
        self._enforce, self._more, self._expire = enforce, tuple(more), expire
        self._port_lock, ports = _free_ports(3 + sum(len(expand(kind.names)) for kind in kinds))
        self._ports = ports[2:]
        self.config = folder / "etc" / "slurm.conf"
        self.token_file = folder / "etc" / "token"
        self.socket = folder / "rest" / "s.sock"
        self.history = folder / "log" / "jobcomp.txt"
        self.environment = dict(os.environ) | {"SLURM_CONF": str(self.config)}
        self._rest: subprocess.Popen[bytes] | None = None
        self._accounting = Accounting(folder, (ports[0], ports[1]), self.run, self.environment)

    def __enter__(self) -> Self:
        for name in ("etc", "munge", "state", "spool", "log", "dev", "rest"):
            (self.folder / name).mkdir(parents=True)
        self._write_config()
        munge = self.folder / "munge"
        self.run("mungekey", "-c", "-k", str(munge / "munge.key"))
        try:
            self.run(
                "munged",
                *(f"--key-file={munge}/munge.key", f"--socket={munge}/munge.socket"),
                *(f"--pid-file={munge}/munged.pid", f"--log-file={munge}/munged.log"),
                f"--seed-file={munge}/munged.seed",
            )
            if self._enforce is not None:
                self._accounting.start()
            self.start_controller()
            for node in self.nodes:
                self.start_node(node)
            self._wait_for_nodes()
            token = self.run("scontrol", "token", f"username={_user()}", "lifespan=7200")
            self.token_file.touch(mode=0o600)
            self.token_file.write_text(token.strip() + "\n")
            self.start_rest()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of all nodes."""
        return tuple(name for kind in self._kinds for name in expand(kind.names))

    def run(self, *arguments: str, check: bool = True) -> str:
        """Run a command and return what it prints."""
        done = subprocess.run(
            arguments, env=self.environment, capture_output=True, text=True, check=False, timeout=60
        )
        if check and done.returncode:
            raise AssertionError(f"{arguments}: {done.stderr or done.stdout}")
        return done.stdout

    def submit(self, seconds: float, *options: str, partition: str = "main") -> str:
        """Submit a job that sleeps, and return its number."""
        return self.run(
            "sbatch", "--parsable", f"--partition={partition}", "--output=/dev/null",
            *options, f"--wrap=sleep {seconds}",
        ).strip()  # fmt: skip

    def jobs(self) -> dict[int, Mapping[str, Any]]:
        """Return all jobs that Slurm still knows, by number, in the form of v0.0.38."""
        versions = plugin_module("versions")
        said = json.loads(self.run("squeue", "--json", "--states=all"))
        listed = versions.plain_jobs(versions.check_version(said, "squeue"), said["jobs"])
        return {job["job_id"]: job for job in listed}

    def jobs_by_key(self) -> dict[str, Mapping[str, Any]]:
        """Return all jobs that are no array by `squeue`'s name of them: `17`, or `17_2` of a task.

        Tasks that still wait together in the record of their array are left out.
        """
        found = {}
        for number, job in self.jobs().items():
            array, task = job["array_job_id"], job["array_task_id"]
            if not array:
                found[str(number)] = job
            elif task is not None and not job["array_task_string"]:
                found[f"{array}_{task}"] = job
        return found

    def version(self) -> tuple[int, int]:
        """Return Slurm's version, such as (22, 5)."""
        year, month = self.run("slurmctld", "-V").split()[1].split(".")[:2]
        return int(year), int(month)

    def wait_until(self, what: Any, seconds: float = 60) -> None:
        """Wait until a function says so; raises AssertionError when the time is over."""
        end = time.monotonic() + seconds
        while not what():
            if time.monotonic() > end:
                log = (self.folder / "log" / "ctld.log").read_text(errors="replace")
                shown = self.run("squeue", "--states=all", check=False)
                raise AssertionError(f"not after {seconds} s:\n{shown}{log[-2000:]}")
            time.sleep(0.3)

    def become_idle(self) -> None:
        """Cancel what a test has left, and wait until all nodes are idle again."""
        self.run("scancel", f"--user={_user()}")
        self.wait_until(lambda: not self.run("squeue", "--noheader").strip())
        self._wait_for_nodes()

    def wait_until_saved(self, job: str) -> None:
        """Wait until slurmctld has written down all jobs: killed before that, it forgets some.

        The comment of a job is changed, so that there is something to write down.
        """
        now, file = time.time(), self.folder / "state" / "job_state"
        self.run("scontrol", "update", f"JobId={job}", "Comment=saved")
        self.wait_until(lambda: file.exists() and file.stat().st_mtime > now)

    def start_controller(self, *, clean: bool = True) -> None:
        """Start slurmctld, with an empty state or that of before."""
        self.run("slurmctld", *(["-c"] if clean else []))

    def restart_controller(self) -> None:
        """Restart slurmctld, which counts usage as it starts."""
        self.run("scontrol", "shutdown", "slurmctld")
        file = self.folder / "state" / "ctld.pid"
        self.wait_until(
            lambda: not file.exists() or not Path(f"/proc/{file.read_text().strip()}").exists()
        )
        self.start_controller(clean=False)
        self.wait_until(lambda: "UP" in self.run("scontrol", "ping", check=False))

    def kill_controller(self) -> None:
        """Kill slurmctld, and wait until it is gone."""
        self._kill(self.folder / "state" / "ctld.pid")

    def start_node(self, node: str) -> None:
        """Start the slurmd of a node."""
        (self.folder / "spool" / node).mkdir(exist_ok=True)
        self.run("slurmd", "-N", node)

    def kill_node(self, node: str) -> None:
        """Kill the slurmd of a node and the steps of the jobs that it runs.

        A step outlives its slurmd: it would end its job as if nothing had happened.
        """
        self._kill(self.folder / "spool" / f"{node}.pid")
        watchers, processes = self._steps_on(node)
        # Its watcher first: left alone, it would report that the step has failed.
        for process in (*watchers, *processes):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def processor_time(self) -> float:
        """Return the processor seconds that slurmctld and slurmrestd have taken so far."""
        controller = int((self.folder / "state" / "ctld.pid").read_text())
        processes = [controller, *([] if self._rest is None else [self._rest.pid])]
        ticks = 0
        for process in processes:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def start_rest(self) -> None:
        """Start slurmrestd, which refuses to run as root, as nobody."""
        os.chown(self.socket.parent, NOBODY, NOBODY)
        with suppress(FileNotFoundError):
            self.socket.unlink()
        log = (self.folder / "log" / "rest.log").open("ab")
        old = self.version() < (24, 5)
        service = "openapi/v0.0.38" if old else "openapi/slurmctld"
        if self._enforce is not None:
            service += ",openapi/dbv0.0.38" if old else ",openapi/slurmdbd"
        self._rest = subprocess.Popen(
            [
                "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                "slurmrestd", "-f", str(self.config), "-a", "rest_auth/jwt",
                "-s", service, f"unix:{self.socket}",
            ],
            env=self.environment | {"SLURM_JWT": "daemon"},
            stdout=log, stderr=log, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        log.close()

        def listens() -> bool:
            with socket.socket(socket.AF_UNIX) as tried, suppress(OSError):
                tried.connect(str(self.socket))
                return True
            return False

        self.wait_until(listens)

    def kill_rest(self) -> None:
        """Kill slurmrestd."""
        if self._rest is not None:
            self._rest.kill()
            self._rest.wait()
            self._rest = None

    def _wait_for_nodes(self) -> None:
        def ready() -> bool:
            states = self.run("sinfo", "--noheader", "--Node", "--format=%t", check=False).split()
            return bool(states) and all(state == "idle" for state in states)

        self.wait_until(ready, 180)

    def _kill(self, file: Path) -> None:
        with suppress(FileNotFoundError, ProcessLookupError, ValueError):
            process = int(file.read_text())
            os.kill(process, signal.SIGKILL)
            for _ in range(100):
                os.kill(process, 0)
                # It has ended, and only waits until the first process of the machine notes it.
                if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                    return
                time.sleep(0.05)

    def _steps_on(self, node: str) -> tuple[set[int], set[int]]:
        """Return the processes of Slurm that watch over a node's jobs, and those of the jobs."""
        wanted = {f"SLURM_CONF={self.config}".encode(), f"SLURMD_NODENAME={node}".encode()}
        watchers: set[int] = set()
        processes: set[int] = set()
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has ended
                if wanted <= set((process / "environ").read_bytes().split(b"\0")):
                    processes.add(int(process.name))
                    parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
                    if (Path("/proc") / str(parent) / "comm").read_text().startswith("slurmstepd"):
                        watchers.add(parent)
        return watchers, processes - watchers

    def _stop(self) -> None:
        self.run("scancel", f"--user={_user()}", check=False)
        self.kill_rest()
        time.sleep(1)
        self.kill_controller()
        for node in self.nodes:
            self.kill_node(node)
        self._accounting.stop()
        self._kill(self.folder / "munge" / "munged.pid")
        self._port_lock.close()

    def _write_config(self) -> None:
        folder = self.folder
        folder.chmod(0o755)
        key = folder / "etc" / "jwt.key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(32))
        for k in range(max(kind.gpus for kind in self._kinds)):
            self.run("mknod", str(folder / "dev" / f"gpu{k}"), "c", "1", "3")
        gres = [
            f"NodeName={kind.names} Name=gpu Type={kind.gpu_type}"
            f" File={folder}/dev/gpu[0-{kind.gpus - 1}]"
            for kind in self._kinds
            if kind.gpus
        ]
        (folder / "etc" / "gres.conf").write_text("".join(f"{line}\n" for line in gres))
        if self.version() >= (23, 11):
            # Nodes share this machine, and none may have control groups of its own.
            (folder / "etc" / "cgroup.conf").write_text("CgroupPlugin=disabled\n")
        if self._held:
            shutil.copy(HOOK, folder / "etc" / "job_submit.lua")
        self.config.write_text("".join(f"{line}\n" for line in self._lines()))

    def _lines(self) -> Iterable[str]:
        folder, ports = self.folder, iter(self._ports)
        yield from (
            "ClusterName=test",
            f"SlurmctldHost={socket.gethostname()}(127.0.0.1)",
            "SlurmUser=root",
            "SlurmdUser=root",
            "AuthType=auth/munge",
            f"AuthInfo=socket={folder}/munge/munge.socket,cred_expire={self._expire}",
            "AuthAltTypes=auth/jwt",
            f"AuthAltParameters=jwt_key={folder}/etc/jwt.key",
            "CredType=cred/munge",
            f"SlurmctldPort={next(ports)}",
            "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny",
            f"StateSaveLocation={folder}/state",
            f"SlurmdSpoolDir={folder}/spool/%n",
            f"SlurmctldPidFile={folder}/state/ctld.pid",
            f"SlurmdPidFile={folder}/spool/%n.pid",
            f"SlurmctldLogFile={folder}/log/ctld.log",
            f"SlurmdLogFile={folder}/log/%n.log",
            "ReturnToService=2",
            "MpiDefault=none",
            "SwitchType=switch/none",
            "ProctrackType=proctrack/linuxproc",
            "TaskPlugin=task/none",
            "JobAcctGatherType=jobacct_gather/none",
            "JobCompType=jobcomp/filetxt",
            f"JobCompLoc={self.history}",
            "SchedulerType=sched/backfill",
            "SchedulerParameters=batch_sched_delay=0,sched_interval=5,bf_interval=2,"
            "bf_max_job_test=2000,default_queue_depth=2000",
            "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_Core_Memory",
            "SlurmdParameters=config_overrides",
            "PriorityType=priority/basic",
            "GresTypes=gpu",
            "InactiveLimit=0",
            "KillWait=5",
            "MinJobAge=3600",
            "SlurmctldTimeout=10",
            "SlurmdTimeout=10",
            "PropagateResourceLimits=NONE",
        )
        if self._enforce is None:
            yield "AccountingStorageType=accounting_storage/none"
        else:
            yield from self._accounting.slurm_lines(self._enforce)
        if self._held:
            yield "JobSubmitPlugins=lua"
        yield from self._more
        for kind in self._kinds:
            count = len(expand(kind.names))
            first = [next(ports) for _ in range(count)]
            gres = f" Gres=gpu:{kind.gpu_type}:{kind.gpus}" if kind.gpus else ""
            gres += " Feature=gpu" if kind.gpus else " Feature=cpu"
            yield (
                f"NodeName={kind.names} NodeHostname=localhost NodeAddr=127.0.0.1"
                f" Port=[{first[0]}-{first[-1]}] Sockets=1 CoresPerSocket={kind.cores}"
                f" ThreadsPerCore=1 RealMemory={kind.memory}{gres} State=UNKNOWN"
            )
        yield "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP"
        yield "PartitionName=other Nodes=ALL MaxTime=INFINITE State=UP"


def plugin_module(name: str) -> ModuleType:
    """Return a module of the plugin `hpcsched-slurm`, which need not be installed."""
    sys.path.insert(0, str(PLUGIN))
    try:
        return importlib.import_module(f"hpcsched_slurm.{name}")
    finally:
        sys.path.remove(str(PLUGIN))


def _user() -> str:
    return "root"


def _free_ports(count: int) -> tuple[TextIO, range]:
    """Return ports in a row of which none is in use, and the lock that keeps others from them.

    Others are further workers, and other test runs on this machine: a port that nobody listens at
    yet seems free to all who look at once. The lock is held until the file is closed.
    """
    # Below the ports that the kernel gives away.
    for first in range(20000, 32000, 100):
        lock = (Path(gettempdir()) / f"hpcsched-slurm-ports-{first}.lock").open("w")
        ports = range(first, first + count)
        try:
            flock(lock, LOCK_EX | LOCK_NB)
            for port in ports:
                with socket.socket() as tried:
                    tried.bind(("127.0.0.1", port))
        except OSError:
            lock.close()
            continue
        return lock, ports
    raise AssertionError("no free ports")
