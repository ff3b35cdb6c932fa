# SPDX-License-Identifier: Apache-2.0
"""An image with Python, pip and Google's libraries, made of files of this machine, without a registry.

The interpreter is the one with which the client tests' environment was made (tests/clients/install); the libraries come from
that environment."""
import functools
import io
import json
import os
import pathlib
import subprocess
import tarfile

import pytest

from .engine import busybox_root, turn
from .scripts import INSTALLED, PYTHON

NAME = "trainyard-test-python"
# Large libraries that programs in containers do not use.
LEFT_OUT = {"googleapiclient", "agentplatform", "aiplatform", "aiplatform_v1", "aiplatform_v1beta1", "vertexai", "test", "tests", "idlelib", "tkinter", "turtledemo", "lib2to3", "ensurepip", "dist-packages",
            "site-packages"}
ASK = ("import json, sys, sysconfig; p = sysconfig.get_paths(vars=dict(base=sys.base_prefix, platbase=sys.base_prefix)); "
       "print(json.dumps([p['stdlib'], sysconfig.get_paths()['purelib'], sys.version_info[:2]]))")


def ensure_python_image(engine):
    """Returns the image's name. Makes the image if the engine has none with the same libraries."""
    marker = PYTHON / ".installed"
    if not marker.exists():
        pytest.skip(f"{marker} is not there: run tests/clients/install {INSTALLED}")
    tag = f"{NAME}:{int(marker.stat().st_mtime)}"
    with turn(NAME):
        if not engine.has_image(tag):
            repo, _, version = tag.partition(":")
            engine.call("POST", f"/images/create?fromSrc=-&repo={repo}&tag={version}"
                                "&changes=ENV%20PYTHONPATH=/opt/site-packages", _root(), "application/x-tar")
    return tag


def _root():
    python = PYTHON / "bin/python"
    stdlib, packages, version = json.loads(subprocess.run([python, "-c", ASK], check=True, capture_output=True,
                                                          text=True).stdout)
    interpreter = os.path.realpath(python)
    out = io.BytesIO(busybox_root({}))
    with tarfile.open(fileobj=out, mode="a") as tar:
        tar.add(interpreter, interpreter.lstrip("/"))
        for name in ("python", "python3", f"python{version[0]}.{version[1]}"):
            _link(tar, f"bin/{name}", interpreter)
        tar.add(stdlib, stdlib.lstrip("/"), filter=_wanted)
        tar.add(packages, "opt/site-packages", filter=_wanted_package)
        for library in sorted(_libraries(interpreter, stdlib, packages)):
            tar.add(os.path.realpath(library), library.lstrip("/"))
    return out.getvalue()


def _link(tar, name, target):
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = tarfile.SYMTYPE, target
    tar.addfile(entry)


def _wanted(entry):
    return None if LEFT_OUT & {os.path.basename(entry.name)} else entry


def _wanted_package(entry):
    return entry if entry.name == "opt/site-packages" else _wanted(entry)


def _libraries(interpreter, *directories):
    """The shared libraries that the interpreter and the modules need, by the paths at which the loader looks for them."""
    files = [interpreter] + [str(path) for top in directories for path in pathlib.Path(top).rglob("*.so*")
                             if not LEFT_OUT & set(path.relative_to(top).parts)]
    # ldd fails on files that are no libraries of this machine; that does not matter.
    said = subprocess.run(["ldd", *files], capture_output=True, text=True).stdout
    words = (word for line in said.splitlines() if not line.endswith(":") for word in line.split())
    return {word for word in words if word.startswith("/") and _outside(word, directories)}


@functools.cache
def _outside(path, directories):
    return os.path.exists(path) and not any(os.path.realpath(path).startswith(top) for top in directories)
