# SPDX-License-Identifier: Apache-2.0
"""The engine's own contract, each operation by itself: a program in C against the real engine."""
import os
import pathlib
import subprocess

from support.daemon import program


def test_the_engine_room_keeps_its_contract(engine):
    contract = pathlib.Path(program()).parent / "tests/integration/engine_contract"
    ended = subprocess.run([contract], env={**os.environ, "DOCKER_HOST": engine.host, "CMOCKA_MESSAGE_OUTPUT": "TAP"},
                           capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "\nok 1 - " in ended.stdout and "\nnot ok" not in ended.stdout, ended.stdout
