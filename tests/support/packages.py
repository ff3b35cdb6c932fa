# SPDX-License-Identifier: Apache-2.0
"""Makes Python packages by hand, which needs no index and no setuptools and is fast."""
import io
import tarfile
import zipfile


def wheel(name, files, requires=()):
    """A wheel with these files."""
    out = io.BytesIO()
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(out, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
                         + "".join(f"Requires-Dist: {r}\n" for r in requires))
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
                                          "Tag: py2-none-any\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in files)
                         + f"{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return out.getvalue()


def sdist(name, files, setup=None):
    out = io.BytesIO()
    files = {"setup.py": setup or f"from setuptools import setup, find_packages\n"
                                  f"setup(name='{name}', version='1.0', packages=find_packages())\n", **files}
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for path, text in files.items():
            entry = tarfile.TarInfo(f"{name}-1.0/{path}")
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
    return out.getvalue()


def slipping(name, word):
    """A source package with members whose paths lead out of the directory: by .., by an absolute path, and by a link."""
    out = io.BytesIO(sdist(name, {}))
    ways = [f"{name}-1.0/" + "../" * 12 + f"tmp/{word}", f"/tmp/{word}", f"../../{word}", f"{name}-1.0/link/tmp/{word}"]
    with tarfile.open(fileobj=out, mode="r:gz") as tar:
        members = [(entry, tar.extractfile(entry).read()) for entry in tar]
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for entry, data in members:
            tar.addfile(entry, io.BytesIO(data))
        link = tarfile.TarInfo(f"{name}-1.0/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/"
        tar.addfile(link)
        for way in ways:
            entry = tarfile.TarInfo(way)
            entry.size = len(word)
            tar.addfile(entry, io.BytesIO(word.encode()))
    return out.getvalue()


def trainer(task, requires=()):
    return wheel("trainer", {"trainer/__init__.py": "", "trainer/task.py": task}, requires)


def in_order(lines, text):
    """Whether the text has all of these lines in this order."""
    rest = iter(text.splitlines())
    for line in lines:
        assert any(found == line for found in rest), f"{line!r} is not there, or not in its turn, in:\n{text}"
