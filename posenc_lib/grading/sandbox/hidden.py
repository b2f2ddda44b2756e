"""What stands inside the walls in the place of a package that is not to be used there."""

if "." not in __name__:  # As that package, and not as the library's own module.
    raise ModuleNotFoundError(f"No module named {__name__!r}", name=__name__)
