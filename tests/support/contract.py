# SPDX-License-Identifier: Apache-2.0
"""Runs tests/integration/engine_contract: a program in C that tests each operation of an engine against a real one."""
import os
import pathlib
import subprocess

from .daemon import program


def contract_check(engine, timeout=300):
    contract = pathlib.Path(program()).parent / "tests/integration/engine_contract"
    ended = subprocess.run([contract], env={**os.environ, "DOCKER_HOST": engine.host, "CMOCKA_MESSAGE_OUTPUT": "TAP"},
                           capture_output=True, text=True, timeout=timeout)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "\nok 1 - " in ended.stdout and "\nnot ok" not in ended.stdout, ended.stdout
