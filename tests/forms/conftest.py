# SPDX-License-Identifier: Apache-2.0
"""With --write, the tests write what they see into the matrix in docs/engines.md. Without it, a cell that differs fails its
test."""
import pytest
from support.forms import ROWS, told


def pytest_addoption(parser):
    parser.addoption("--write", action="store_true", help="write what was seen into docs/engines.md")


def pytest_generate_tests(metafunc):
    if "row" in metafunc.fixturenames:
        metafunc.parametrize("row", ROWS)


@pytest.fixture
def cell(request, daemon, row):
    """Tries a row's feature in one form of use, and compares the result with the page. Fails with: a cell of the page."""
    def look(form):
        seen = ROWS[row](daemon)
        assert told(form, row, seen, request.config.getoption("--write")) == seen
    return look
