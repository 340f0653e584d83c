"""Tests on a real Slurm that they start on the loopback interface; see `make test-slurm`."""
