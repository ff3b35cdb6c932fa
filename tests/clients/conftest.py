# SPDX-License-Identifier: Apache-2.0
"""Client tests send their calls through a recorder. What it recorded is compared with tests/coverage.md at the end."""
import pytest

from support.recorder import Recording


@pytest.fixture(scope="session")
def recording():
    found = Recording()
    yield found
    found.save()


def pytest_collection_modifyitems(items):
    # The comparison needs the records of all other tests, so it runs last.
    items.sort(key=lambda item: item.path.name == "test_ledger.py")
