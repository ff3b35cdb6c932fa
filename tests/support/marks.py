# SPDX-License-Identifier: Apache-2.0
"""Marks for test parameters."""
import pytest


def long(*values):
    """Parameters that are tried only with --long, because another one covers the same in the short form."""
    return pytest.param(*values, marks=pytest.mark.long)
