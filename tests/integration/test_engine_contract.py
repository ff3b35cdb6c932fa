# SPDX-License-Identifier: Apache-2.0
"""The contract of engines, tried on Docker. test_podman.py tries it on Podman."""
from support.contract import contract_check


def test_the_engine_room_keeps_its_contract(engine):
    contract_check(engine)
