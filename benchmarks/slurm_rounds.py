"""How long a live round takes on a real Slurm with many jobs waiting, reading included.

    export PYTHONPATH=plugins/hpcsched-slurm/src
    python -m benchmarks.slurm_rounds [JOBS] [ROUNDS] [DISPATCHER]

It starts a Slurm of 64 nodes on the loopback interface, which takes root and Debian's packages (see
`make test-slurm`), submits jobs that are held, and advises about them once a second: first with a
change of a job before each round, so that Slurm tells all of them anew, then without. Slurm, its
nodes and hpcsched share the machine.
"""

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from hpcsched.runs.assembly import assemble
from hpcsched.scenario import load_scenario
from hpcsched_slurm.live.following import Predictions
from hpcsched_slurm.live.rounds import GuardedDispatcher, hold_round
from hpcsched_slurm.live.site import Site
from hpcsched_slurm.live.snapshot import Asked
from hpcsched_slurm.manager import make_slurm
from hpcsched_slurm.params import SlurmParams
from tests.real_slurm.cluster import NodeKind, SlurmCluster, missing
from tests.real_slurm.workload import sleep_jobs

ROOT = Path(__file__).parents[1]
NODES = (NodeKind("c[1-32]", 16, 64000), NodeKind("g[1-32]", 8, 128000, 4))
SCENARIO = """
name: rounds
system:
  groups:
    - {{name: c, count: 32, resources: {{core: 16, mem: 64000MiB}}}}
    - {{name: g, count: 32, resources: {{core: 8, mem: 128000MiB, gpu: 4}}}}
trace: {{source: swf, path: {root}/scenarios/traces/small-cluster.swf.gz}}
dispatcher: {dispatcher}
"""


def main(arguments: Sequence[str]) -> int:
    """Measure, and print medians in seconds; return 1 where no Slurm can be started."""
    jobs, rounds = (int(text) for text in (*arguments[:2], "2000", "15")[:2])
    dispatcher = arguments[2] if len(arguments) > 2 else "easy"
    why = missing()
    if why:
        print(f"no Slurm is started: {why}")
        return 1
    with tempfile.TemporaryDirectory(prefix="hpcsched-slurm-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with SlurmCluster(folder / "slurm", NODES) as cluster:
            keys = [cluster.submit(job.seconds, *job.options) for job in sleep_jobs(jobs)]
            print(f"{dispatcher}: {jobs} jobs wait on {len(cluster.nodes)} nodes, {rounds} rounds")
            for changed in (keys[0], None):
                measure(cluster, folder, rounds, dispatcher, changed)
    return 0


def measure(
    cluster: SlurmCluster, folder: Path, rounds: int, dispatcher: str, changed: str | None
) -> None:
    """Hold rounds on what waits, starting nothing, and print how long they took.

    Before each, the comment of the job `changed` is another, if one is given.
    """
    path = folder / "rounds.yaml"
    path.write_text(SCENARIO.format(root=ROOT, dispatcher=dispatcher))
    assembly = assemble(load_scenario(path))
    manager = make_slurm(
        SlurmParams(rest=f"unix:{cluster.socket}", token_file=str(cluster.token_file), user="root")
    )
    numbers = {name: number for number, name in enumerate(cluster.nodes)}
    site = Site(assembly.system, cluster.nodes, numbers, frozenset({"main"}), 0)
    predictions = Predictions(assembly.predictor)
    asked = Asked(site, predictions.of, assembly.correction, assembly.objective, driven=True)
    asking = GuardedDispatcher(assembly.dispatcher, 60)
    reading, asking_times, spent, slurms = [], [], [], []
    for number in range(rounds + 1):
        time.sleep(1)
        if changed is not None:
            cluster.run("scontrol", "update", f"JobId={changed}", f"Comment=round {number}")
        own, theirs = time.process_time(), cluster.processor_time()
        began = time.perf_counter()
        state = manager.read()
        read = time.perf_counter()
        hold_round(state, asked, asking, now=int(time.time()), number=number + 1)
        done = time.perf_counter()
        if number:  # the first loads modules
            reading.append(read - began)
            asking_times.append(done - read)
            spent.append(time.process_time() - own)
            slurms.append(cluster.processor_time() - theirs)
    print("one job changed before each round" if changed else "nothing changed")
    print(f"  reading the cluster    {median(reading):.3f} s (median)")
    print(f"  problem and decision   {median(asking_times):.3f} s")
    both = [a + b for a, b in zip(reading, asking_times, strict=True)]
    print(f"  both                   {median(both):.3f} s, {max(both):.3f} s at most")
    print(f"  processor time         {median(spent):.3f} s here, {median(slurms):.3f} s Slurm's")
    print(f"  load of the machine    {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
