"""Systems and partitions from what Slurm says of its own: `slurm.conf`, `scontrol show`."""
