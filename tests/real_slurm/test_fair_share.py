"""Fair share and priorities of a real Slurm with slurmdbd, beside those of `multifactor`.

A tree of accounts is loaded, ten jobs run for a while, and slurmctld is restarted: it counts usage
when it starts, and else every few minutes. Then twenty jobs wait in partitions that are down.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
import yaml

from hpcsched import cli
from hpcsched.dispatching.problem import WaitingJob, waiting_job
from hpcsched.dispatching.rules.multifactor import MultifactorOrder
from hpcsched.dispatching.rules.multifactor_params import MultifactorParams
from hpcsched.runs.assembly import assemble
from hpcsched.scenario.loading import load_scenario
from hpcsched.system.system import NodeGroup, Request, System
from hpcsched.workload.job import Job
from tests.dispatching.rules.multifactor_factors import Factors, factors_of, priorities_of
from tests.real_slurm import accounting
from tests.real_slurm.cluster import NodeKind, SlurmCluster, plugin_module
from tests.real_slurm.conftest import started
from tests.real_slurm.driving import finish, hpcsched

NODES = (NodeKind("c[1-4]", 16, 64000),)
SETTINGS = (
    "PriorityType=priority/multifactor",
    "PriorityWeightAge=1000",
    "PriorityWeightFairshare=100000",
    "PriorityWeightJobSize=2000",
    "PriorityWeightPartition=3000",
    "PriorityWeightQOS=4000",
    "PriorityDecayHalfLife=14-0",
    # In minutes: a slurmctld that misses its first calculation at a restart makes the next soon.
    "PriorityCalcPeriod=1",
    "PriorityMaxAge=7-0",
    # Beside `other`; new jobs of `main` are held.
    "PartitionName=short Nodes=ALL PriorityJobFactor=4 MaxTime=INFINITE State=UP",
)
# Users that Debian has; Slurm looks them up by number.
TREE = """\
Cluster - 'test':Fairshare=1:QOS='normal,fast,express'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'biology':Description='x':Organization='x':Fairshare=1
Account - 'chemistry':Description='x':Organization='x':Fairshare=1
Account - 'physics':Description='x':Organization='x':Fairshare=2
Account - 'pool':Description='x':Organization='x':Fairshare=parent
Parent - 'biology'
User - 'lp':DefaultAccount='biology':Fairshare=parent
User - 'mail':DefaultAccount='biology':Fairshare=2
User - 'man':DefaultAccount='biology':Fairshare=parent
Parent - 'chemistry'
User - 'games':DefaultAccount='chemistry':Fairshare=1
User - 'sys':DefaultAccount='chemistry':Fairshare=3
Parent - 'physics'
User - 'bin':DefaultAccount='physics':Fairshare=1
User - 'daemon':DefaultAccount='physics':Fairshare=1
Account - 'theory':Description='x':Organization='x':Fairshare=3
Parent - 'theory'
User - 'bin':DefaultAccount='physics':Fairshare=1
User - 'news':DefaultAccount='theory':Fairshare=2
User - 'uucp':DefaultAccount='theory':Fairshare=1
Parent - 'pool'
User - 'backup':DefaultAccount='pool':Fairshare=parent
User - 'proxy':DefaultAccount='pool':Fairshare=1
"""
RUNNING = (
    ("daemon", "physics", 3), ("bin", "physics", 1), ("sys", "chemistry", 5),
    ("games", "chemistry", 1), ("man", "biology", 2), ("news", "theory", 4),
    ("lp", "biology", 1), ("mail", "biology", 1), ("proxy", "pool", 2), ("bin", "theory", 1),
)  # fmt: skip
"""User, account and cores of the jobs that make usage; `uucp`, `backup` and `root` have none."""
WAITING = (
    *((user, account) for user, account, _ in RUNNING),
    ("uucp", "theory"),
    ("backup", "pool"),
)
QOS = {"express": 10, "fast": 5, "normal": 0}
JOBS = 20
SACCT = "JobID,Submit,Start,End,Timelimit,NNodes,NCPUS,ReqMem,Partition,User,Account,QOS,State"


class Printed(NamedTuple):
    """What Slurm printed for one of its algorithms."""

    sshare: str
    sprio: Mapping[int, tuple[float, float, float, float, float]]


class Site(NamedTuple):
    """Texts of a Slurm in which twenty jobs wait.

    Attributes
    ----------
    folder
        Folder with `site.txt` and `sacct.txt`.
    waiting
        User, account, QOS, partition and nodes of each waiting job.
    fair_tree, classic
        Shares, and fair-share factor, size, partition, QOS and priority of each waiting job.
    """

    folder: Path
    waiting: Mapping[int, tuple[str, str, str, str, int]]
    fair_tree: Printed
    classic: Printed


@pytest.fixture(scope="module", name="slurm")
def _slurm() -> Iterator[SlurmCluster]:
    """Give a Slurm with accounting, or skip the tests and say why there is none."""
    why = accounting.missing()
    if why:
        pytest.skip(f"no Slurm with accounting is started: {why}")
    with (
        started(NODES, enforce="associations", more=SETTINGS) as cluster,
        TemporaryDirectory(prefix="hpcsched-slurm-") as name,
    ):
        for qos in ("fast", "express"):
            cluster.run("sacctmgr", "-i", "add", "qos", qos, f"priority={QOS[qos]}")
        tree = Path(name) / "tree.cfg"
        tree.write_text(TREE)
        cluster.run("sacctmgr", "-i", "load", f"file={tree}")
        yield cluster


@pytest.fixture(scope="module", name="site")
def _site(slurm: SlurmCluster, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Let jobs run and wait, and write down what Slurm prints."""
    folder = tmp_path_factory.mktemp("site")
    running = [submitted(slurm, *one[:2], f"--cpus-per-task={one[2]}") for one in RUNNING]
    slurm.wait_until(lambda: states(slurm, running) == {"RUNNING"})
    time.sleep(6)
    restart(slurm)
    for k in range(JOBS):
        qos, partition = ("normal", "fast", "express")[k % 3], ("short", "other")[k % 2]
        whole = (f"--nodes={1 + k % 4}", "--ntasks-per-node=16", f"--qos={qos}")
        submitted(slurm, *WAITING[k % len(WAITING)], *whole, partition=partition)
    listed = slurm.run("squeue", "--noheader", "--states=PD", "--format=%A|%u|%a|%q|%P|%D")
    waiting = {}
    for line in listed.splitlines():
        number, user, account, qos, partition, nodes = line.strip().split("|")
        waiting[int(number)] = user, account, qos, partition, int(nodes)
    fair_tree = printed(slurm, waiting)
    slurm.config.write_text(slurm.config.read_text() + "PriorityFlags=NO_FAIR_TREE\n")
    shown = slurm.run("scontrol", "show", "config")
    restart(slurm)
    classic = printed(slurm, waiting)
    nodes, parts = (slurm.run("scontrol", "show", what) for what in ("nodes", "partitions"))
    (folder / "site.txt").write_text(nodes + parts + shown)
    slurm.run("scancel", *running)
    slurm.wait_until(lambda: not states(slurm, running) & {"RUNNING", "COMPLETING"})
    # By default sacct begins at midnight, which may have passed since.
    since = ("--starttime=now-1days", "--parsable2")
    command = ("sacct", "--allusers", "--allocations", *since, f"--format={SACCT}")
    # Jobs reach the database some seconds after the commands that submit and end them.
    slurm.wait_until(lambda: in_database(slurm.run(*command)) == (len(running), JOBS))
    (folder / "sacct.txt").write_text(slurm.run(*command))
    return Site(folder, waiting, fair_tree, classic)


def submitted(
    slurm: SlurmCluster, user: str, account: str, *options: str, partition: str = "short"
) -> str:
    """Submit a job of a user, charged to an account, and return its number."""
    charged = (f"--uid={user}", f"--account={account}", "--chdir=/tmp", "--mem=100", "--time=30")
    return slurm.submit(600, *charged, *options, partition=partition)


def in_database(sacct: str) -> tuple[int, int]:
    """Return the numbers of jobs that were ended, and of those that wait."""
    return sacct.count("|CANCELLED"), sacct.count("|PENDING")


def states(slurm: SlurmCluster, jobs: list[str]) -> set[str]:
    """Return the states of some jobs."""
    listed = slurm.run("squeue", "--noheader", "--states=all", "--format=%T", "-j", ",".join(jobs))
    return set(listed.split())


def restart(slurm: SlurmCluster) -> None:
    """Restart slurmctld, so that it counts usage, and take the partitions down."""
    slurm.restart_controller()
    for partition in ("short", "other"):
        slurm.run("scontrol", "update", f"PartitionName={partition}", "State=DOWN")
    slurm.wait_until(lambda: usage_of(slurm.run("sshare", "-alP")) > 0)


def usage_of(sshare: str) -> int:
    """Return the usage of the root."""
    return int(sshare.splitlines()[1].split("|")[4])


def printed(slurm: SlurmCluster, waiting: Mapping[int, object]) -> Printed:
    """Return shares and priorities, when all waiting jobs have one."""
    found: dict[int, tuple[float, float, float, float, float]] = {}

    def complete() -> bool:
        found.clear()
        for line in slurm.run("sprio", "--noheader", "--format=%i|%f|%j|%p|%q|%Y").splitlines():
            number, *values = line.split("|")
            if int(number) in waiting:
                found[int(number)] = tuple(map(float, values))  # type: ignore[assignment]
        # Until slurmctld has worked them out, factors are 0 and each priority is 1.
        return len(found) == JOBS and all(values[-1] > 1 for values in found.values())

    slurm.wait_until(complete, 150)
    return Printed(slurm.run("sshare", "-alP"), found)


def order_of(site: Site, folder: Path, sshare: str) -> tuple[MultifactorOrder, list[WaitingJob]]:
    """Return the order of a scenario that hpcsched's readers make of the site, and the queue."""
    paths = {name: folder / name for name in ("system.yaml", "site.yaml", "accounts.yaml")}
    (folder / "sshare.txt").write_text(sshare)
    command = ["trace", "system-from", str(site.folder / "site.txt")]
    assert cli.main([*command, "--out", str(paths["system.yaml"])]) == 0
    text = (
        "name: site\n"
        f"trace: {{source: slurm-sacct, path: {site.folder}/sacct.txt, time_zone: UTC}}\n"
        + paths["system.yaml"].read_text()
    )
    paths["site.yaml"].write_text(text)
    command = ["trace", "accounts-from", str(folder / "sshare.txt"), str(paths["site.yaml"])]
    assert cli.main([*command, "--out", str(paths["accounts.yaml"])]) == 0
    block = paths["accounts.yaml"].read_text()
    qos = {name: {"priority": priority} for name, priority in QOS.items()}
    paths["site.yaml"].write_text(f"{text}\nqos: {json.dumps(qos)}\n{block}")
    told = ["dispatcher.order.fair_share=classic"] if "fair_share: classic" in block else []
    parts = assemble(load_scenario(paths["site.yaml"], told))
    params = parts.scenario.dispatcher.order  # type: ignore[attr-defined]
    assert isinstance(params, MultifactorParams)
    accounts = parts.scenario.accounts
    users = {name: int(number) for number, name in re.findall(r"(\d+): \S+  # (\w+)", block)}
    assert len(users) == 12
    queue = []
    for number, (user, account, qos, partition, nodes) in sorted(site.waiting.items()):
        job = Job(
            number, 0, Request(nodes, (16, 0), one_unit_per_node=True), 1800,
            user=users[user], group=(*accounts[account].groups, None)[0],
            queue_name=qos, partition_name=partition,
        )  # fmt: skip
        queue.append(waiting_job(job, 1800, parts.system))
    return MultifactorOrder(params, parts.system, parts.partitions, parts.policies), queue


@pytest.mark.parametrize("algorithm", ["fair_tree", "classic"])
def test_factors_and_priorities_are_those_of_slurm(
    site: Site, algorithm: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Each factor of twenty jobs by itself, their sum, and the order of the queue."""
    said: Printed = getattr(site, algorithm)
    order, queue = order_of(site, tmp_path, said.sshare)
    assert order.params.fair_share == ("classic" if algorithm == "classic" else None)
    found: Mapping[int, Factors] = factors_of(order, 0, queue)
    priorities = priorities_of(order, 0, queue, ())
    # Ranks agree exactly; the classic formula depends on usage, which is printed in whole seconds.
    accuracy = 1e-6 if algorithm == "fair_tree" else 0.02
    errors = []
    for number, (fair_share, size, partition, qos, priority) in said.sprio.items():
        own = found[number]
        assert own.fair_share == pytest.approx(fair_share, abs=accuracy)
        assert (own.size, own.partition, own.qos) == pytest.approx((size, partition, qos), abs=1e-6)
        # Slurm's jobs have waited for some seconds of seven days.
        errors.append(abs(priorities[number] - priority))
    weight = order.params.weights.fair_share
    assert max(errors) <= 2 + (accuracy * weight if algorithm == "classic" else 0)
    record_property("measured", f"{algorithm}: priorities differ by at most {max(errors):.1f}")
    if algorithm == "fair_tree":
        in_turn = sorted(said.sprio, key=lambda number: (-said.sprio[number][4], number))
        assert sorted(priorities, key=lambda number: (-priorities[number], number)) == in_turn


def test_priorities_of_qos(slurm: SlurmCluster, site: Site, tmp_path: Path) -> None:
    """They are those of the QOS, beside the accounts that `sshare` tells."""
    (tmp_path / "sshare.txt").write_text(site.fair_tree.sshare)
    (tmp_path / "site.yaml").write_text(
        "name: site\nsystem: {groups: [{name: c, count: 4, resources: {core: 16, mem: 64GiB}}]}\n"
        f"trace: {{source: slurm-sacct, path: {site.folder}/sacct.txt, time_zone: UTC}}\n"
        "dispatcher: easy\n"
    )
    table = slurm.run("sacctmgr", "--parsable2", "show", "qos", "format=Name,Priority")
    (tmp_path / "qos.txt").write_text(table)
    files = [f"{tmp_path}/{name}" for name in ("sshare.txt", "site.yaml")]
    out = tmp_path / "accounts.yaml"
    command = ["trace", "accounts-from", *files, f"--qos={tmp_path}/qos.txt", f"--out={out}"]
    assert cli.main(command) == 0
    written = yaml.safe_load(out.read_text())
    assert {name: one["priority"] for name, one in written["qos"].items()} == QOS
    assert len(written["accounts"]) == 6


@pytest.mark.usefixtures("site")
def test_the_history_of_slurmdbd(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Jobs that the source asks for are those that sacct prints as JSON."""
    history = plugin_module("history")
    copy = tmp_path / "history.json"
    copy.write_text(slurm.run("sacct", "--allusers", "--json", "--starttime=now-1days"))
    system = System((NodeGroup("c", 4, {"core": 16, "mem": 64 * 2**30}),))
    of_copy = history.SlurmHistory(history.SlurmHistoryParams(path=str(copy)), system)
    params = history.SlurmHistoryParams(
        rest=f"unix:{slurm.socket}", token_file=str(slurm.token_file), days=1
    )
    of_rest = history.SlurmHistory(params, system)
    jobs = list(of_rest.jobs())
    assert jobs == list(of_copy.jobs())
    assert sorted(job.unit_request[0] for job, _ in jobs) == sorted(one[2] for one in RUNNING)
    assert "User: 1 daemon" in of_rest.comments
    assert len(of_rest.read_answers()[0].content) > 1000
    # A window that ended before the first job has none.
    past = history.SlurmHistoryParams(
        rest=f"unix:{slurm.socket}", token_file=str(slurm.token_file),
        since="2024-03-01", until="2024-03-02",
    )  # fmt: skip
    assert list(history.SlurmHistory(past, system).jobs()) == []


@pytest.mark.usefixtures("site")
def test_a_run_asks_slurmdbd_itself(slurm: SlurmCluster, tmp_path: Path) -> None:
    """The commands of a user: nothing is saved, and the manifest has the hash of what was read."""
    scenario, run = tmp_path / "asked.yaml", tmp_path / "run"
    scenario.write_text(
        "name: asked\nsystem: {groups: [{name: c, count: 4, resources: {core: 16, mem: 64GiB}}]}\n"
        f"trace: {{source: slurm-history, rest: 'unix:{slurm.socket}', days: 1,\n"
        f"        token_file: {slurm.token_file}}}\n"
        "dispatcher: easy\n"
    )
    said = finish(hpcsched(slurm, "run", str(scenario), "--out", str(run)))
    assert "10 jobs submitted: 10 completed" in said
    manifest = json.loads((run / "manifest.json").read_text())
    (read,) = manifest["trace_files"]
    assert (read["path"], read["answer"]) == (f"unix:{slurm.socket}/slurmdb/jobs", True)
    assert manifest["not_reproducible_because"] == ["the trace is what slurmdbd answers"]
    # The run keeps the answer: others may end or be purged meanwhile, and slurmrestd may be away.
    slurm.run("scancel", "--state=PENDING", check=False)
    slurm.kill_rest()
    try:
        said = finish(hpcsched(slurm, "verify", str(run), "--replay"))
    finally:
        slurm.start_rest()
    assert "was read from trace_answers.zip, and not asked for again" in said
    assert "replayed: 10 of 10 starts equal" in said
