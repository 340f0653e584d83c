"""Systems and partitions from files of Slurm: `slurm.conf`, `scontrol show`."""
