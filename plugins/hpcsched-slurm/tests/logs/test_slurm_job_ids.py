"""Job ids as Slurm writes them, by hand."""

import pytest

from hpcsched_slurm.logs.sacct_rows import SlurmJobId, parse_job_id


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("123", SlurmJobId(123)),
        ("123_4", SlurmJobId(5_000000123)),
        ("123+1", SlurmJobId(5000001_000000123)),
        ("123.batch", SlurmJobId(123, is_step=True)),
        ("123_4.0", SlurmJobId(5_000000123, is_step=True)),
        ("123_[5-9%2]", SlurmJobId(123, is_pending=True)),
        # Of federated clusters: the number of the cluster is in the upper six of 32 bits.
        ("4227858433", SlurmJobId(600000_4227858433)),
        ("4227858433_4", SlurmJobId(600005_4227858433)),
        ("4227858433+1", SlurmJobId(810001_4227858433)),
        ("4227858433.batch", SlurmJobId(600000_4227858433, is_step=True)),
        ("4227858433_[5-9]", SlurmJobId(600000_4227858433, is_pending=True)),
    ],
)
def test_job_ids(text: str, expected: SlurmJobId) -> None:
    """A task counts in the digits before the job's nine; steps and waiting tasks are told."""
    assert parse_job_id(text) == expected


@pytest.mark.parametrize("text", ["", "job", "12_", "12+x", "4294967296", "12345678901", "12 "])
def test_what_is_no_job_id(text: str) -> None:
    """The text is quoted."""
    with pytest.raises(ValueError, match="expected a job id such as 123, 123_4") as caught:
        parse_job_id(text)
    assert str(caught.value).endswith(f"found {text!r}")
