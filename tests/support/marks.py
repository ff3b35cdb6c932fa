# SPDX-License-Identifier: Apache-2.0
"""Marks of parameters."""
import pytest


def long(*values):
    """A parameter that takes part with --long alone: another one says the same in the short form."""
    return pytest.param(*values, marks=pytest.mark.long)
