# SPDX-License-Identifier: Apache-2.0
"""The packages that deploy/package makes: they follow Debian's policy, install, run, and are reproducible."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

import pytest

from support.engine import ROOT, query

pytestmark = pytest.mark.skipif(not shutil.which("lintian") or not shutil.which("mmdebstrap"), reason="no lintian, or no mmdebstrap, in PATH")
EPOCH = "1700000000"
VERSION = re.search(r"AC_INIT\(\[trainyard\], \[(.*?)\]", (ROOT / "configure.ac").read_text()).group(1)
LEAST = "base-files,base-passwd,bash,coreutils,dpkg,apt"


def run(*words, **more):
    done = subprocess.run(list(map(str, words)), text=True, capture_output=True, timeout=1500, **more)
    assert done.returncode == 0, f"{words}: {done.stdout[-8000:]}{done.stderr[-8000:]}"
    return done.stdout


def root_make(place, *packages):
    """A root directory with only these Debian packages."""
    run("mmdebstrap", "--mode=root", "--variant=essential", f"--include={','.join([*LEAST.split(','), *packages])}", "--format=directory",
        "--skip=check/empty", suite(), place)
    return place


def suite():
    return re.search(r"^VERSION_CODENAME=(.*)$", pathlib.Path("/etc/os-release").read_text(), re.MULTILINE).group(1)


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """debsbom, which lists the contents of an image."""
    place = tmp_path_factory.mktemp("tools")
    run(sys.executable, "-m", "venv", place)
    run(place / "bin/pip", "install", "-q", "debsbom[spdx,cdx]")
    return {**os.environ, "PATH": f"{os.environ['PATH']}:{place}/bin", "SOURCE_DATE_EPOCH": EPOCH, "SOURCE_REVISION": "of-a-test"}


@pytest.fixture(scope="module")
def made(tools, tmp_path_factory):
    """Makes the packages; returns their directory."""
    out = tmp_path_factory.mktemp("packages")
    run(ROOT / "deploy/package", "--out", out, env=tools)
    return out


def only(place, pattern):
    found, = place.glob(pattern)
    return found


def test_all_are_of_one_version(made):
    """Fails with: Dockerfile with another VERSION is not seen here, but by tests/integration/test_contained.py."""
    assert run("dpkg-deb", "-f", only(made, "*.deb"), "Version").strip() == VERSION
    assert (ROOT / "CHANGELOG.md").read_text().split("\n## ")[1].startswith(VERSION)
    with tarfile.open(only(made, f"trainyard-{VERSION}.tar.gz")) as tar:
        assert {name.split("/")[0] for name in tar.getnames()} == {f"trainyard-{VERSION}"}
    assert image_config(made)["config"]["Labels"] | {"org.opencontainers.image.version": VERSION,
                                                     "org.opencontainers.image.revision": "of-a-test"} == \
        image_config(made)["config"]["Labels"]


def image_config(made):
    with tarfile.open(only(made, "*-image-*.tar.gz")) as tar:
        manifest, = json.load(tar.extractfile("manifest.json"))
        return json.load(tar.extractfile(manifest["Config"]))


def test_lintian_has_nothing_to_say(made):
    assert run("lintian", "--fail-on", "warning,error", "--allow-root", only(made, "*.deb")) == ""


def test_the_image_is_small_and_its_parts_are_named(made):
    with tarfile.open(only(made, "*-image-*.tar.gz")) as tar:
        assert tar.getmember("layer.tar").size < 60 << 20
    cdx = json.loads(only(made, "*.cdx.json").read_text())
    spdx = json.loads(only(made, "*.spdx.json").read_text())
    for names in ({part["name"] for part in cdx["components"]}, {part["name"] for part in spdx["packages"]}):
        assert {"trainyard", "libsqlite3-0", "libc6"} <= names


def test_the_package_installs_and_goes(made, tmp_path):
    """Fails with: the manual or the completions left out of the package; control without what it depends on."""
    root = root_make(tmp_path / "root", "man-db", "bash-completion")
    shutil.copy(only(made, "*.deb"), root / "trainyard.deb")
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")

    def inside(*words):
        return run("chroot", root, "env", "DEBIAN_FRONTEND=noninteractive", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", *words)

    def there():
        """All files except the pages that `man` caches."""
        return {path.relative_to(root) for path in root.rglob("*trainyard*") if "var/cache/man" not in str(path)}
    before = there()
    inside("apt-get", "update", "-q")  # the package lists were removed when the root was made
    inside("apt-get", "install", "-q", "-y", "--no-install-recommends", "/trainyard.deb")
    assert inside("trainyard", "version").startswith(f"trainyard {VERSION}\n")
    assert "AI Platform Training" in inside("man", "trainyard")
    assert inside("bash", "-c", ". /usr/share/bash-completion/bash_completion; _completion_loader trainyard; complete -p trainyard").strip()
    assert (root / "usr/share/doc/trainyard/docs/getting-started.md").exists()
    assert inside("dpkg", "--verify", "trainyard") == ""
    inside("apt-get", "purge", "-q", "-y", "trainyard")
    assert there() == before


def test_the_archive_makes_the_same_packages_elsewhere(made, tools, tmp_path):
    """Uses only the archive, in another directory: configure, make, make install. Fails with: image-archive with times of now; a
    header that no list of the build names."""
    with tarfile.open(only(made, f"trainyard-{VERSION}.tar.gz")) as tar:
        tar.extractall(tmp_path)
    run(tmp_path / f"trainyard-{VERSION}/deploy/package", "--out", tmp_path / "again", env=tools)
    again = {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()}
    assert again.keys() == {path.name for path in made.iterdir()}
    assert [name for name in again if again[name] != (made / name).read_bytes()] == []


def test_the_archive_installs(made, tmp_path):
    with tarfile.open(only(made, f"trainyard-{VERSION}.tar.gz")) as tar:
        tar.extractall(tmp_path)
    source, top = tmp_path / f"trainyard-{VERSION}", tmp_path / "top"
    run("sh", "-c", f"./configure -q --prefix={top} CFLAGS=-O0 && make -j {os.cpu_count()} && make install", cwd=source)
    assert run(top / "bin/trainyard", "version").startswith(f"trainyard {VERSION}\n")
    assert (top / "share/man/man1/trainyard.1").exists() and (top / "lib/systemd/system/trainyard.service").exists()
    for path in ("bash-completion/completions/trainyard", "zsh/site-functions/_trainyard", "fish/vendor_completions.d/trainyard.fish"):
        assert "trainyard" in (top / "share" / path).read_text()
    run("make", "uninstall", cwd=source)
    assert not [path for path in top.rglob("*") if path.is_file()]


def base_image(engine, tmp_path):
    """A base image that needs nothing else: the engine pulls no image and uses no network."""
    wanted = run("sh", "-c", f"root={ROOT}; . {ROOT}/deploy/lib.sh; echo $build_packages $image_packages").split()
    root = root_make(tmp_path / "base", *wanted)
    run("tar", "-C", root, "-cf", tmp_path / "base.tar", ".")
    name = f"trainyard-test-base:{os.getpid()}"
    repo, tag = name.split(":")
    with open(tmp_path / "base.tar", "rb") as data:
        engine.call("POST", f"/images/create?fromSrc=-&repo={repo}&tag={tag}", data.read(), "application/x-tar")
    return name


def test_a_build_by_the_engine_makes_the_same_image(made, engine, tmp_path):
    """Builds deploy/Dockerfile. Fails with: image-archive that leaves an instruction out."""
    base, name = base_image(engine, tmp_path), f"trainyard-test-built:{os.getpid()}"
    with tarfile.open(only(made, f"trainyard-{VERSION}.tar.gz")) as tar:
        tar.extractall(tmp_path)
    run("tar", "-C", tmp_path / f"trainyard-{VERSION}", "-cf", tmp_path / "context.tar", ".")
    arguments = query(t=name, dockerfile="deploy/Dockerfile", networkmode="none", forcerm=1, buildargs={"BASE": base, "REVISION": "of-a-test"})
    try:
        said = run("curl", "-sS", "--unix-socket", engine.path, "-X", "POST", "-H", "Content-Type: application/x-tar", "-H", "Expect:",
                   "-T", tmp_path / "context.tar", f"http://engine/build?{arguments}")
        assert engine.has_image(name), said[-5000:]
        built = engine.call("GET", f"/images/{name}/json")
        wanted = image_config(made)["config"]
        assert {key: built["Config"].get(key) for key in wanted} == wanted
        assert built["Size"] < 60 << 20
    finally:
        engine.remove_image(name)
        engine.remove_image(base)
