"""Rules of findings about scenarios, with one sentence each."""

from types import MappingProxyType

# The names are part of the interface: SARIF output and comments of users refer to them.
RULES = MappingProxyType(
    {
        "bad-override": "A `--set` is malformed, or its key path does not exist.",
        "bad-value": "The value is not one that the key accepts.",
        "cannot-write": "The file cannot be written.",
        "changed-trace": "The trace changed while the run went on.",
        "duplicate-key": "A mapping has the same key twice.",
        "duplicate-name": "Two things of one kind have the same name.",
        "equal-replicas": "Replicas of a cell will be equal runs, since nothing in them is random.",
        "former-name": "A plugin or key is written by a former name, which still works.",
        "larger-than-system": "More than a hundredth of the records ask for more than the system.",
        "merge-key": "A merge key (<<) is used, which YAML 1.2 does not have.",
        "missing-key": "A required key is missing.",
        "no-folder": "The folder for a file is not given.",
        "no-scenarios": "The folder holds no YAML file.",
        "no-waits": "The trace does not record wait times.",
        "not-a-file": "A path leads to a folder where a file is expected.",
        "not-checked": "A file of variants or ranges is checked without its scenario.",
        "not-installed": "The Python package of a solver or executor is not installed.",
        "not-live": "The option cannot be used in live mode, or contradicts the cluster.",
        "not-offline": "The option cannot be used in off-line planning.",
        "not-recorded": "The option cannot be used with a dispatcher that follows recorded starts.",
        "not-reproducible": "The option makes results depend on the machine.",
        "nothing-to-kill": "Jobs are to be killed at a limit to which the trace clips run times.",
        "other-format": "The log is of a format that the trace source does not read.",
        "other-machine": "The header of the log states another machine than the system.",
        "outages-beside-jobs": "All outages end before the first job, or begin after the last one.",
        "plans-all-partitions": "A CP dispatcher plans all jobs of several partitions together.",
        "path-not-found": "An input file does not exist, or a variable in its path is not set.",
        "refused-records": "Policies of the trace refuse several records.",
        "sees-run-time": "A plugin is shown real run times, which no real system knows in advance.",
        "similar-names": "Two names differ so little that one may be misspelt.",
        "solver-without-plan": "The solver had no plan in more than a tenth of its rounds.",
        "syntax": "The file is not valid YAML, or has several documents.",
        "unknown-format": "The file's name does not tell its format.",
        "unknown-group": "The system has no node group of this name.",
        "unknown-key": "The mapping cannot have this key.",
        "unknown-kind": "There is no such kind of plugin.",
        "unknown-node": "The system has no node of this name.",
        "unknown-plugin": "No installed plugin of this kind has the name.",
        "unknown-preset": "No known data set has the name.",
        "unknown-resource-type": "No node group has this resource type.",
        "unknown-system": "No system of this name is found.",
        "unreadable-file": "The file cannot be opened, or is not UTF-8 text.",
    }
)
"""One sentence a rule. Plugins add rules of their own in their cautions."""
