"""One tree of accounts as `sshare -alP` of Slurm 22.05.8 printed it, with both formulas.

Ten jobs of 1 to 5 cores had run. Trackable resources that are all 0 are cut to `cpu=0`.
"""

SSHARE = """\
Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS|GrpTRESMins|TRESRunMins
root|||0.000000|230||1.000000||||cpu=0
 root|root|1|0.166667|0|0.000000|0.000000|1.000000|inf||cpu=0
 biology||1|0.166667|43|0.190476|0.190476||0.875000||cpu=0
  biology|lp|parent|0.166667|10|0.047619|0.250000|0.769231|||cpu=0
  biology|mail|2|1.000000|10|0.047619|0.250000|0.615385|4.000000||cpu=0
  biology|man|parent|0.166667|21|0.095238|0.500000|0.769231|||cpu=0
 chemistry||1|0.166667|65|0.285714|0.285714||0.583333||cpu=0
  chemistry|games|1|0.250000|10|0.047619|0.166667|0.153846|1.500000||cpu=0
  chemistry|sys|3|0.750000|54|0.238095|0.833333|0.076923|0.900000||cpu=0
 physics||2|0.333333|98|0.428571|0.428571||0.777778||cpu=0
  physics|bin|1|0.200000|10|0.047619|0.111111|0.538462|1.800000||cpu=0
  physics|daemon|1|0.200000|32|0.142857|0.333333|0.230769|0.600000||cpu=0
  theory||3|0.600000|54|0.238095|0.555556||1.080000||cpu=0
   theory|bin|1|0.250000|10|0.047619|0.200000|0.384615|1.250000||cpu=0
   theory|news|2|0.500000|43|0.190476|0.800000|0.307692|0.625000||cpu=0
   theory|uucp|1|0.250000|0|0.000000|0.000000|0.461538|inf||cpu=0
 pool||parent|0.000000|21|0.095238|0.095238||||cpu=0
  pool|backup|parent|0.000000|0|0.000000|0.000000|1.000000|||cpu=0
  pool|proxy|1|0.166667|21|0.095238|0.095238|0.846154|1.750000||cpu=0
"""
SSHARE_CLASSIC = """\
Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|GrpTRESMins|TRESRunMins
root|||1.000000|230||1.000000|0.500000||cpu=0
 root|root|1|0.166667|0|0.000000|0.000000|1.000000||cpu=0
 biology||1|0.166667|43|0.190476|0.190476|0.452862||cpu=0
  biology|lp|parent|0.166667|10|0.047619|0.190476|0.452862||cpu=0
  biology|mail|2|0.166667|10|0.047619|0.190476|0.452862||cpu=0
  biology|man|parent|0.166667|21|0.095238|0.190476|0.452862||cpu=0
 chemistry||1|0.166667|65|0.285714|0.285714|0.304753||cpu=0
  chemistry|games|1|0.041667|10|0.047619|0.107143|0.168238||cpu=0
  chemistry|sys|3|0.125000|54|0.238095|0.273810|0.219079||cpu=0
 physics||2|0.333333|98|0.428571|0.428571|0.410168||cpu=0
  physics|bin|1|0.066667|10|0.047619|0.123810|0.276022||cpu=0
  physics|daemon|1|0.066667|32|0.142857|0.200000|0.125000||cpu=0
  theory||3|0.200000|54|0.238095|0.352381|0.294859||cpu=0
   theory|bin|1|0.050000|10|0.047619|0.123810|0.179718||cpu=0
   theory|news|2|0.100000|43|0.190476|0.271429|0.152377||cpu=0
   theory|uucp|1|0.050000|0|0.000000|0.088095|0.294859||cpu=0
 pool||parent|1.000000|21|0.095238|0.095238|0.936118||cpu=0
  pool|backup|parent|1.000000|0|0.000000|0.000000|1.000000||cpu=0
  pool|proxy|1|0.166667|21|0.095238|0.095238|0.672950||cpu=0
"""
