"""The version of hpcsched, in one place: builds, manifests and file headers read it here."""

__version__ = "0.2.0"
