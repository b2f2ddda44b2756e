"""The examples in the docstrings run, and print what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import posenc_lib.biased

MODULES = [module.name for module in pkgutil.iter_modules(posenc_lib.biased.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    failed, _ = doctest.testmod(importlib.import_module(f"posenc_lib.biased.{name}"))
    assert failed == 0


def test_every_public_function_has_an_example():
    for name in posenc_lib.biased.__all__:
        given = getattr(posenc_lib.biased, name)
        assert isinstance(given, type) or ">>> " in given.__doc__, name
