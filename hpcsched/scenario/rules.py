"""The rules that findings about scenarios name, and what each is about."""

from types import MappingProxyType

RULES = MappingProxyType(
    {
        "bad-override": "An override given with --set is malformed or leads nowhere.",
        "bad-value": "A value is not one that its key accepts.",
        "changed-trace": "The trace was another when the run had ended than when it began.",
        "duplicate-key": "A mapping has a key twice.",
        "duplicate-name": "Two things that must be told apart have the same name.",
        "merge-key": "A merge key (<<) is used, which YAML 1.2 does not have.",
        "missing-key": "A key that is required is not there.",
        "no-folder": "Nothing says into which folder a file is to be put.",
        "no-waits": "A trace does not record how long jobs waited.",
        "not-installed": "A solver is named whose Python package is not installed.",
        "not-live": "A choice does not go with a real cluster, or is not how that is.",
        "not-offline": "A choice does not go with planning the whole trace at once.",
        "not-recorded": "A choice does not go with following the starts of the log.",
        "not-reproducible": "A choice makes results depend on the machine.",
        "outages-beside-jobs": "All outages are over before the first job comes, or begin after the"
        " last has ended.",
        "path-not-found": "An input file is not there, or a variable in its path is not set.",
        "sees-run-time": "A plugin is shown what no real system knows in advance.",
        "former-name": "A plugin or a key is written by a former name, which still works.",
        "nothing-to-kill": "Jobs are to be killed, and the trace has cut their run times already.",
        "similar-names": "Two names are so alike that one may be misspelt.",
        "solver-without-plan": "In more than a tenth of the rounds with a solver it had no plan.",
        "syntax": "The file is not valid YAML, or not a single document.",
        "unknown-format": "The name of a file does not tell its format.",
        "unknown-group": "A node group is named that the system does not have.",
        "unknown-node": "An outage names a node that the system does not have.",
        "unknown-key": "A mapping has a key that it cannot have.",
        "unknown-resource-type": "A resource type is named that no node group has.",
        "unknown-system": "A system is named that is not there.",
        "unknown-plugin": "No installed plugin has the name.",
        "unwritable-file": "The file cannot be written.",
        "unreadable-file": "The file cannot be opened, or is not UTF-8 text.",
    }
)
"""One sentence a rule. Plugins add rules of their own in their cautions."""
