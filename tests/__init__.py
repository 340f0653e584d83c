"""The tests mirror the folders of hpcsched."""
