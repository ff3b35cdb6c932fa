# SPDX-License-Identifier: Apache-2.0
"""Client tests go through a recorder; what it noted is compared with the ledger at the end."""
import pytest

from support.recorder import Recording


@pytest.fixture(scope="session")
def recording():
    found = Recording()
    yield found
    found.save()


def pytest_collection_modifyitems(items):
    # What was driven is known when all others have run.
    items.sort(key=lambda item: item.path.name == "test_ledger.py")
