"""How the tests start Chromium."""

from tests.system import chromium as find

__all__ = ["FLAGS", "find"]

# A browser that asks nobody for anything: what it requests is what the page requests.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
