"""Small made-up files in the columns of each known data set, some of whose rows are no jobs."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

START = datetime(2020, 5, 1, 12, 0, 0)
"""Submit time of the first job of each sample: the Unix time 1588334400, if taken as UTC."""


def at(*seconds: int | None) -> list[datetime | None]:
    """Return times, in seconds after the first submission; None: not given."""
    return [None if s is None else START + timedelta(seconds=s) for s in seconds]


def in_utc(*seconds: int | None) -> Any:
    """Return a column of time stamps with a zone."""
    zoned = [None if t is None else t.replace(tzinfo=UTC) for t in at(*seconds)]
    return pa.array(zoned, pa.timestamp("us", "UTC"))


def words(*seconds: int | None) -> list[str | None]:
    """Return times as text."""
    return [None if t is None else str(t) for t in at(*seconds)]


def parquet(**columns: Any) -> Callable[[Path], Path]:
    """Return a function that writes a Parquet file into a folder."""

    def write(folder: Path) -> Path:
        path = folder / "jobs.parquet"
        pq.write_table(pa.table(columns), path)
        return path

    return write


def text(content: str, name: str = "jobs.csv") -> Callable[[Path], Path]:
    """Return a function that writes a text file into a folder."""

    def write(folder: Path) -> Path:
        path = folder / name
        path.write_text(content, encoding="utf-8")
        return path

    return write


# Two jobs that ran, and one that did not: 3 nodes for 100 s after 10 s, 1 node for 50 s after 0 s.
_EAGLE = {
    "nodes_req": [3, 1, 2],
    "processors_req": [108, 7, 72],
    "qos": ["normal", "high", "normal"],
    "partition": ["short", "debug", "short"],
}
_NLR = {
    "id": ["4711", "4712", "4713"],
    "wallclock_req": pa.array([timedelta(hours=1), timedelta(minutes=2), None], pa.duration("us")),
    "user_hash": ["u1", "u2", "u1"],
    "account_hash": ["a1", "a1", "a1"],
    **_EAGLE,
}
_MARCONI = {
    "job_id": [11, 12, 13],
    "submit_time": in_utc(0, 30, 40),
    "start_time": in_utc(10, 30, 60),
    "end_time": in_utc(110, 80, 90),
    "user_id": [5, 6, 5],
    "group_id": [1, 1, 1],
    "qos": ["q0", "q1", "q0"],
    "partition": ["1", "1", "2"],
    "job_state": ["COMPLETED", "TIMEOUT", "RUNNING"],
    "time_limit": [60, 4294967295, 60],
}
_PHILLY = [
    {
        "status": "Pass", "vc": "ee9e8c", "jobid": "application_1", "user": "ce2f4c",
        "submitted_time": "2020-05-01 12:00:00",
        "attempts": [
            {
                "start_time": "2020-05-01 12:00:10", "end_time": "2020-05-01 12:00:40",
                "detail": [{"ip": "m1", "gpus": ["a", "b"]}, {"ip": "m2", "gpus": ["a", "b"]}],
            },
            {
                "start_time": "2020-05-01 12:00:50", "end_time": "2020-05-01 12:01:50",
                "detail": [{"ip": "m3", "gpus": ["gpu0"]}],
            },
        ],
    },
    {
        "status": "Failed", "vc": "aaaaaa", "jobid": "application_2", "user": "bbbbbb",
        "submitted_time": "2020-05-01 12:00:30",
        "attempts": [
            {
                "start_time": "2020-05-01 12:00:30", "end_time": "2020-05-01 12:01:20",
                "detail": [{"ip": "m1", "gpus": ["a", "b"]}, {"ip": "m2", "gpus": ["a"]}],
            }
        ],
    },
    {
        "status": "Killed", "vc": "ee9e8c", "jobid": "application_3", "user": "ce2f4c",
        "submitted_time": "2020-05-01 12:00:40", "attempts": [],
    },
    {
        "status": "Pass", "vc": "ee9e8c", "jobid": "application_4", "user": "ce2f4c",
        "submitted_time": "2020-05-01 12:00:50",
        "attempts": [
            {"start_time": "2020-05-01 12:01:00", "end_time": "None", "detail": [
                {"ip": "m1", "gpus": ["gpu0"]}]}
        ],
    },
]  # fmt: skip

WRITERS: Mapping[str, Callable[[Path], Path]] = {
    "eagle": parquet(
        job_id=[1, 2, 3],
        submit_time=at(0, 30, 40),
        start_time=at(10, 30, None),
        end_time=at(110, 80, None),
        run_time=[100.0, 50.0, None],
        wallclock_req=[3600.0, 120.0, 60.0],
        user=["user0001", "user0002", "user0001"],
        account=["account0001", "account0001", "account0002"],
        name=["name1", "name2", "name3"],
        state=["COMPLETED", "FAILED", "CANCELLED"],
        gpus_req=[0, 0, 0],
        mem_req=[0.0, 0.0, 0.0],
        **_EAGLE,
    ),
    "nlr-eagle": parquet(
        submit_time_tz=in_utc(0, 30, 40),
        start_time_tz=in_utc(10, 30, None),
        end_time_tz=in_utc(110, 80, 45),
        submit_time=at(0, 30, 40),
        state_simple=["COMPLETED", "FAILED", "CANCELLED"],
        **_NLR,
    ),
    "kestrel": parquet(
        submit_time=in_utc(0, 30, 40),
        start_time=in_utc(10, 30, None),
        end_time=in_utc(110, 80, 45),
        state_simple=["COMPLETED", "FAILED", "CANCELLED"],
        **_NLR,
    ),
    "pm100": parquet(
        run_time=[100, 50, 30],
        num_nodes_alloc=[2, 1, 1],
        num_cores_alloc=[64, 8, 8],
        num_gpus_alloc=[8, 0, 4],
        mem_alloc=[475, 7, 7],
        power_consumption=[[1500, 1600], [600], [600]],
        **_MARCONI,
    ),
    "m100": parquet(
        num_nodes=[2, 1, 1],
        num_cpus=[256, 8, 8],
        tres_per_node=["gres:gpu:4", None, None],
        run_time=[100, 50, 30],
        **_MARCONI,
    ),
    "f-data": parquet(
        jid=["jid_0", "jid_1", "jid_2"],
        usr=["usr_0", "usr_1", "usr_0"],
        jnam=["jnam_0", "jnam_0", "jnam_2"],
        cnumr=[96, 48, 48],
        nnumr=[2, 1, 1],
        nnuma=[2, 1, 1],
        adt=words(0, 30, 40),
        sdt=words(10, 30, 60),
        edt=words(110, 80, 50),
        elpl=[3600.0, 120.0, 60.0],
        duration=[100.0, 50.0, 0.0],
        **{"exit state": ["completed", "failed", "failed"]},
    ),
    "frontier": parquet(
        job_idx=["000007", "000008"],
        submit_time=in_utc(0, 30),
        start_time=in_utc(10, 30),
        end_time=in_utc(110, 80),
        wall_time=[60, 2],
        node_count=[2, 1],
        run_time=[100, 50],
        user_id=["1", "2"],
        project_id=["4", "4"],
        queue=["batch-normal", "batch-debug"],
        completion_state=["COMPLETED", "TIMEOUT"],
    ),
    "supercloud": text(
        "id_job,id_user,cpus_req,nodes_alloc,partition,state,timelimit,time_submit,time_start,"
        "time_end,tres_alloc\n"
        '901,77,40,2,normal,3,60,1588334400,1588334410,1588334510,"1=40,2=170000"\n'
        '902,78,3,1,normal,5,4294967295,1588334430,1588334430,1588334480,"1=3,4=1"\n'
        "903,77,40,0,normal,4,60,1588334440,0,1588334460,\n"
    ),
    "philly": text(json.dumps(_PHILLY), "cluster_job_log"),
    "eurora": text(
        "submit;job_id;queue;start;end;requested_nodes;requested_cores;requested_mem;requested_time;"
        "used (node:cores:gpus:mics:mem per node)\n"
        "2020-05-01 14:00:00;901;debug;2020-05-01 14:00:10;2020-05-01 14:01:50;2;16;1;01:00;"
        "33:8:1:0:4194304 64:8:1:0:4194304\n"
        "2020-05-01 14:00:30;902;R;2020-05-01 14:00:30;2020-05-01 14:01:20;1;8;200;00:02;"
        "8:8:0:0:204800 8:8:0:0:204800\n"
    ),
    "helios": text(
        "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,"
        "queue\n"
        "1,uA,vcA,16,32,2,COMPLETED,2020-05-01 12:00:00,2020-05-01 12:00:10,"
        "2020-05-01 12:01:50,100,10\n"
        "2,uB,vcB,3,6,2,FAILED,2020-05-01 12:00:30,2020-05-01 12:00:30,2020-05-01 12:01:20,50,0\n"
    ),
    "pai": text(
        "a1,worker,2.0,Terminated,1588334400.0,1588334500.0,650.0,29.296875,50.0,V100\n"
        "a1,ps,1.0,Failed,1588334430.0,1588334480.0,50.0,1.0,,\n"
        "a2,worker,1.0,Running,1588334440.0,,600.0,1.0,100.0,T4\n"
        "a3,worker,,Terminated,1588334450.0,1588334460.0,600.0,1.0,100.0,T4\n",
        "pai_task_table.csv",
    ),
    "openb": text(
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
        "deletion_time,scheduled_time\n"
        "openb-pod-0000,88000,16384,8,1000,,LS,Running,0,110,10\n"
        "openb-pod-0001,3152,5600,1,460,V100M16|V100M32,BE,Failed,30,80,30\n"
        "openb-pod-0002,1000,2048,0,0,,BE,Pending,40,60,\n"
    ),
    "alcf": text(
        "JOB_NAME,COBALT_JOBID,MACHINE_NAME,QUEUED_TIMESTAMP,START_TIMESTAMP,END_TIMESTAMP,"
        "USERNAME_GENID,PROJECT_NAME_GENID,QUEUE_NAME,WALLTIME_SECONDS,RUNTIME_SECONDS,NODES_USED,"
        "NODES_REQUESTED,CORES_USED,CORES_REQUESTED,EXIT_STATUS\n"
        "1.mira,1,mira,2020-05-01 12:00:00.000000,2020-05-01 12:00:10.000000,"
        "2020-05-01 12:01:50.000000,111,9,prod-short,3600.0,100.0,512,2,8192,32,0\n"
        "2.mira,2,mira,2020-05-01 12:00:30,2020-05-01 12:00:30,2020-05-01 12:01:20,"
        "222,9,backfill,120,50,1,3,16,31,143\n"
        "3.mira,3,mira,2020-05-01 12:00:40,2020-05-01 12:00:50,2020-05-01 12:01:20,"
        "111,9,backfill,120,30,0,0,0,0,0\n"
    ),
    "opendc": parquet(
        id=["a", "b"],
        submission_time=pa.array(at(0, 30), pa.timestamp("ms", "UTC")),
        duration=[99_500, 50_000],
        cpu_count=pa.array([4, 1], pa.int32()),
        cpu_capacity=[8400.0, 2100.0],
        mem_capacity=pa.array([16_000, 100], pa.int64()),
    ),
}
"""A function for each preset that writes its sample into a folder and returns the path."""
