"""What stands inside the walls in the place of a package that is not to be used there."""

raise ModuleNotFoundError(f"No module named {__name__!r}", name=__name__)
