"""Twenty waiting jobs of eleven users in five accounts, as Slurm 22.05.8 printed them.

The machine has four nodes of 16 cores; each job asks for whole nodes. The weights are 1000 for age,
100000 for fair share, 2000 for size, 3000 for the partition and 4000 for QOS.
"""

from typing import NamedTuple

SSHARE = """\
Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS|GrpTRESMins|TRESRunMins
root|||0.000000|206||1.000000||||
 root|root|1|0.166667|0|0.000000|0.000000|1.000000|inf||
 biology||1|0.166667|39|0.193237|0.193237||0.862500||
  biology|lp|parent|0.166667|9|0.048309|0.250000|0.769231|||
  biology|mail|2|1.000000|9|0.048309|0.250000|0.615385|4.000000||
  biology|man|parent|0.166667|19|0.096618|0.500000|0.769231|||
 chemistry||1|0.166667|59|0.289855|0.289855||0.575000||
  chemistry|games|1|0.250000|9|0.048309|0.166667|0.153846|1.500000||
  chemistry|sys|3|0.750000|49|0.241546|0.833333|0.076923|0.900000||
 physics||2|0.333333|88|0.429952|0.429952||0.775281||
  physics|bin|1|0.200000|9|0.048309|0.112360|0.538462|1.780000||
  physics|daemon|1|0.200000|29|0.144928|0.337079|0.230769|0.593333||
  theory||3|0.600000|48|0.236715|0.550562||1.089796||
   theory|bin|1|0.250000|8|0.043478|0.183674|0.384615|1.361110||
   theory|news|2|0.500000|39|0.193237|0.816326|0.307692|0.612500||
   theory|uucp|1|0.250000|0|0.000000|0.000000|0.461538|inf||
 pool||parent|0.000000|17|0.086957|0.086957||||
  pool|backup|parent|0.000000|0|0.000000|0.000000|1.000000|||
  pool|proxy|1|0.166667|17|0.086957|0.086957|0.846154|1.916666||
"""
"""Output of `sshare -alP`, without the resources of running jobs."""

SSHARE_CLASSIC = """\
Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|GrpTRESMins|TRESRunMins
root|||1.000000|269||1.000000|0.500000||
 root|root|1|0.166667|0|0.000000|0.000000|1.000000||
 biology||1|0.166667|51|0.193237|0.193237|0.447692||
  biology|lp|parent|0.166667|12|0.048148|0.193237|0.447692||
  biology|mail|2|0.166667|12|0.048148|0.193237|0.447692||
  biology|man|parent|0.166667|25|0.096296|0.193237|0.447692||
 chemistry||1|0.166667|77|0.289855|0.289855|0.299550||
  chemistry|games|1|0.041667|12|0.048148|0.108575|0.164277||
  chemistry|sys|3|0.125000|64|0.240741|0.277576|0.214550||
 physics||2|0.333333|115|0.429952|0.429952|0.408992||
  physics|bin|1|0.066667|12|0.048148|0.124509|0.274023||
  physics|daemon|1|0.066667|38|0.144444|0.201546|0.123007||
  theory||3|0.200000|63|0.236715|0.352657|0.294577||
   theory|bin|1|0.050000|11|0.044444|0.121498|0.185572||
   theory|news|2|0.100000|51|0.192593|0.272625|0.151118||
   theory|uucp|1|0.050000|0|0.000000|0.088164|0.294577||
 pool||parent|1.000000|23|0.086957|0.086957|0.941507||
  pool|backup|parent|1.000000|0|0.000000|0.000000|1.000000||
  pool|proxy|1|0.166667|23|0.088889|0.088889|0.690956||
"""
"""The same with `PriorityFlags=NO_FAIR_TREE`, after a restart: jobs had run on."""

_TABLE = """\
11 daemon physics normal main 1 0.2307692 0.25 1 0 26576 0.123007 15800
12 bin physics fast other 2 0.5384615 0.5 0.25 0.5 57596 0.2740227 31152
13 sys chemistry express main 3 0.0769231 0.75 1 1 16192 0.2145504 29955
14 games chemistry normal other 4 0.1538462 1 0.25 0 18134 0.1642771 19177
15 man biology fast main 1 0.7692308 0.25 1 0.5 82423 0.4476924 50269
16 news theory express other 2 0.3076923 0.5 0.25 1 36519 0.1511185 20861
17 lp biology normal main 3 0.7692308 0.75 1 0 81423 0.4476924 49269
18 mail biology fast other 4 0.6153846 1 0.25 0.5 66288 0.4476924 49519
19 proxy pool express main 1 0.8461538 0.25 1 1 92115 0.6909563 76595
20 bin theory normal other 2 0.3846154 0.5 0.25 0 40211 0.1855716 20307
21 uucp theory fast main 3 0.4615385 0.75 1 0.5 52653 0.2945766 35957
22 backup pool express other 4 1 1 0.25 1 106750 0.5 56750
23 daemon physics normal main 1 0.2307692 0.25 1 0 26576 0.123007 15800
24 bin physics fast other 2 0.5384615 0.5 0.25 0.5 57596 0.2740227 31152
25 sys chemistry express main 3 0.0769231 0.75 1 1 16192 0.2145504 29955
26 games chemistry normal other 4 0.1538462 1 0.25 0 18134 0.1642771 19177
27 man biology fast main 1 0.7692308 0.25 1 0.5 82423 0.4476924 50269
28 news theory express other 2 0.3076923 0.5 0.25 1 36519 0.1511185 20861
29 lp biology normal main 3 0.7692308 0.75 1 0 81423 0.4476924 49269
30 mail biology fast other 4 0.6153846 1 0.25 0.5 66288 0.4476924 49519
"""


class SlurmJob(NamedTuple):
    """A waiting job: its request, and what `sprio` printed of it.

    Attributes
    ----------
    number, user, account, qos, partition, nodes
        From `squeue`.
    fair_share, size, partition_factor, qos_factor, priority
        From `sprio`.
    classic_fair_share, classic_priority
        From `sprio` with the classic formula.
    """

    number: int
    user: str
    account: str
    qos: str
    partition: str
    nodes: int
    fair_share: float
    size: float
    partition_factor: float
    qos_factor: float
    priority: int
    classic_fair_share: float
    classic_priority: int


def _job(line: str) -> SlurmJob:
    number, user, account, qos, partition, nodes, *values = line.split()
    fair_share, size, of_partition, of_qos, priority, classic, sum_ = map(float, values)
    return SlurmJob(
        int(number), user, account, qos, partition, int(nodes), fair_share, size, of_partition,
        of_qos, int(priority), classic, int(sum_),
    )  # fmt: skip


SPRIO = tuple(map(_job, _TABLE.splitlines()))
"""The waiting jobs by number."""
