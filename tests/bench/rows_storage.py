# SPDX-License-Identifier: Apache-2.0
"""Objects: bytes up and down, and lists of many."""
import contextlib
import http.client
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import time
import urllib.parse

from measure import bare, bench, median, row, serving
from support.vitals import memory_peak_kib


def curl(*arguments, source=None):
    """Seconds of one transfer; the same client is used for the daemon and for the floor."""
    done = subprocess.run(["curl", "-sS", "--noproxy", "*", "--fail", "-o", "/dev/null", "-w", "%{time_total}", *arguments],
                          stdin=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def upload_url(daemon, name):
    return f"{daemon.base}/upload/storage/v1/b/bench/o?uploadType=media&name={name}"


@bench("copies")
def bench_copies(options):
    mib = options.copy_mib
    with tempfile.TemporaryDirectory(prefix="trainyard-bench-") as directory, serving() as daemon:
        source, target = f"{directory}/source", f"{directory}/target"
        with open("/dev/urandom", "rb") as noise, open(source, "wb") as out:
            for _ in range(mib):
                out.write(noise.read(1 << 20))
        times = {name: [] for name in ("up", "up floor", "down", "down floor")}
        with bare(options, "bare_files", target) as base:
            for _ in range(options.rounds):
                times["up floor"].append(curl("-T", source, base + "/file"))
                times["down floor"].append(curl(base + "/file"))
                pathlib.Path(target).unlink()
                times["up"].append(curl("-X", "POST", "-T", source, upload_url(daemon, "copy")))
                times["down"].append(curl(f"{daemon.base}/storage/v1/b/bench/o/copy?alt=media"))
                daemon.request("DELETE", "/storage/v1/b/bench/o/copy")
    speed = {name: mib / median(taken) for name, taken in times.items()}
    row(f"upload of {mib} MiB", speed["up"], "MiB/s", speed["up floor"], 0.8, 0.95)
    row(f"download of {mib} MiB", speed["down"], "MiB/s", speed["down floor"], 0.8, 1.0)


@bench("large")
def bench_large(options):
    with serving() as daemon:
        free = os.statvfs(daemon.state_dir)
        if free.f_bavail * free.f_frsize < (options.large_mib + 1024) << 20:
            print(f"memory during an upload of {options.large_mib} MiB: not enough room in {daemon.state_dir}")
            return
        for path in (["-d", "x"], ["-d", "y"]):  # the first uploads also do set-up work, which is not to be measured
            curl("-X", "POST", *path, upload_url(daemon, "small"))
        curl(f"{daemon.base}/storage/v1/b/bench/o/small?alt=media")
        before = memory_peak_kib(daemon)
        zeros = subprocess.Popen(["head", "-c", str(options.large_mib << 20), "/dev/zero"], stdout=subprocess.PIPE)
        curl("-X", "POST", "-T", "-", upload_url(daemon, "large"), source=zeros.stdout)
        zeros.stdout.close()
        zeros.wait()
        uploaded = memory_peak_kib(daemon)
        curl(f"{daemon.base}/storage/v1/b/bench/o/large?alt=media")
        downloaded = memory_peak_kib(daemon)
        size = daemon.get("/storage/v1/b/bench/o/large").json["size"]
        assert size == str(options.large_mib << 20), size
    row(f"memory: {options.large_mib} MiB up, growth of the peak", (uploaded - before) / 1024, "MiB", None, 8, 1)
    row(f"memory: {options.large_mib} MiB down, growth of the peak", (downloaded - uploaded) / 1024, "MiB", None, 8, 1)


def objects_seed(state_dir, count):
    """Copies the row of the one object `count` times, because uploading would take longer than the measurement."""
    with contextlib.closing(sqlite3.connect(f"{state_dir}/storage.db")) as db, db:
        columns = [column[1] for column in db.execute("PRAGMA table_info(object)")]
        chosen = ["printf('%03d/%06d', n / 1000, n)" if column == "name" else column for column in columns]
        db.execute(f"INSERT INTO object ({', '.join(columns)})"
                   f" WITH RECURSIVE number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < {count})"
                   f" SELECT {', '.join(chosen)} FROM number, object WHERE object.name = 'seed'")


@bench("objects")
def bench_objects(options):
    with tempfile.TemporaryDirectory() as state:
        with serving(state_dir=state) as daemon:
            curl("-X", "POST", "-d", "x", upload_url(daemon, "seed"))
        objects_seed(state, options.objects)
        with serving(state_dir=state) as daemon:
            connection = http.client.HTTPConnection("127.0.0.1", daemon.port)

            def timed(expected, **query):
                times = []
                for _ in range(30):
                    began = time.monotonic()
                    connection.request("GET", "/storage/v1/b/bench/o?" + urllib.parse.urlencode(query))
                    answer = connection.getresponse()
                    text = answer.read()
                    times.append((time.monotonic() - began) * 1000)
                    assert answer.status == 200, text
                found = json.loads(text)
                assert len(found.get("items", [])) + len(found.get("prefixes", [])) == expected, text[:1000]
                return median(times)

            of = f"of {options.objects:,}"
            folders, last = (options.objects + 999) // 1000, (options.objects - 1) // 1000
            row(f"list, first 1000 {of}", timed(1000, maxResults=1000), "ms", None, 20, 5)
            row(f"list, 1000 below a prefix {of}", timed(1000, prefix=f"{last:03}/"), "ms", None, 20, 5)
            row(f"list, 1000 in the middle {of}", timed(1000, startOffset=f"{last // 2:03}/", maxResults=1000), "ms", None,
                20, 5)
            row(f"list, {min(folders, 1000)} prefixes {of}", timed(min(folders, 1000), delimiter="/", maxResults=1000), "ms", None,
                20, 5)
            row(f"list, names of 1000 {of}", timed(1000, maxResults=1000, fields="items(name)"), "ms", None, 20, 3)
