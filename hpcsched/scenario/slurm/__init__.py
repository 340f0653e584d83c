"""Systems and partitions from Slurm's own descriptions: `slurm.conf`, `scontrol show`."""
