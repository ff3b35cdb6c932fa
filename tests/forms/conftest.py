# SPDX-License-Identifier: Apache-2.0
"""--write: the matrix in docs/engines.md becomes what the tests see; without, a cell that differs fails its test."""
import pytest
from support.forms import ROWS, told


def pytest_addoption(parser):
    parser.addoption("--write", action="store_true", help="write what was seen into docs/engines.md")


def pytest_generate_tests(metafunc):
    if "row" in metafunc.fixturenames:
        metafunc.parametrize("row", ROWS)


@pytest.fixture
def cell(request, daemon, row):
    """Does what the row is about in a form, and compares what came of it to what the page tells. Broken: a cell of the page."""
    def look(form):
        seen = ROWS[row](daemon)
        assert told(form, row, seen, request.config.getoption("--write")) == seen
    return look
