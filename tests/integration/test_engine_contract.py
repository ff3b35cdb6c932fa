# SPDX-License-Identifier: Apache-2.0
"""The engine's own contract. test_podman.py has it of Podman."""
from support.contract import contract_check


def test_the_engine_room_keeps_its_contract(engine):
    contract_check(engine)
