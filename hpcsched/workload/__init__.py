"""Workloads: jobs, trace readers and writers, transforms, generators and statistics."""
