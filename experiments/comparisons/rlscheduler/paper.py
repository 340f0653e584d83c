"""What table V of Zhang, Dai, He, Bao and Xie (RLScheduler, SC 2020) prints of three of its logs.

The figures are mean bounded slowdowns (`tau` = 10 s), each the mean over ten windows.
"""

from collections.abc import Mapping

SCHEDULERS = ("FCFS", "WFP3", "UNICEP", "SJF", "F1", "RL")
"""The columns of the table. The last is RLScheduler itself, as trained on the log."""

BACKFILLED = "+backfill"
"""What the labels of the paper's schedulers end with where they backfill."""

PRINTED: Mapping[str, Mapping[str, float]] = {
    "Lublin-1": {
        "FCFS": 7273.77,
        "WFP3": 19753.53,
        "UNICEP": 22274.74,
        "SJF": 277.35,
        "F1": 258.37,
        "RL": 254.67,
        "FCFS+backfill": 235.82,
        "WFP3+backfill": 133.87,
        "UNICEP+backfill": 307.23,
        "SJF+backfill": 73.31,
        "F1+backfill": 75.07,
        "RL+backfill": 58.64,
    },
    "Lublin-2": {
        "FCFS": 7842.47,
        "WFP3": 9523.18,
        "UNICEP": 11265.31,
        "SJF": 787.89,
        "F1": 698.34,
        "RL": 724.51,
        "FCFS+backfill": 247.61,
        "WFP3+backfill": 318.35,
        "UNICEP+backfill": 379.59,
        "SJF+backfill": 91.99,
        "F1+backfill": 148.25,
        "RL+backfill": 118.79,
    },
    "SDSC-SP2": {
        "FCFS": 1727.54,
        "WFP3": 3000.88,
        "UNICEP": 1848.45,
        "SJF": 2680.55,
        "F1": 1232.06,
        "RL": 466.44,
        "FCFS+backfill": 1595.12,
        "WFP3+backfill": 1083.12,
        "UNICEP+backfill": 548.01,
        "SJF+backfill": 2167.84,
        "F1+backfill": 1098.22,
        "RL+backfill": 397.82,
    },
}
"""What is printed, by log and label."""
