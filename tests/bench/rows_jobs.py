# SPDX-License-Identifier: Apache-2.0
"""Jobs on the engine, from create to end, compared with the same engine calls without a daemon."""
import concurrent.futures
import json
import re
import shutil
import subprocess
import tempfile
import time

from engine_floor import MASTER_RUNS_S, TRIAL_RUNS_S, Raw
from measure import PROJECT, bench, job_body, median, row, run_job, serving, timed_ms
from support.engine import query
from support.tuning import REPORTING, tuning_input

TRIALS = 12


@bench("one", engine=True)
def bench_one(options):
    raw, floor, ours = Raw(options.engine, options.image), [], []
    with serving(options.engine) as daemon:
        for i in range(options.rounds * 2):
            floor.append(raw.one(i) * 1000)
            ours.append(run_job(daemon, job_body(f"one_{i}", options.image, ["true"])) * 1000)
    row("job of 1 replica, create to SUCCEEDED", median(ours), "ms", median(floor), 1.0, 0.6)


@bench("sixteen", engine=True)
def bench_sixteen(options):
    raw, ours = Raw(options.engine, options.image), []
    floors = {4: [], 16: []}
    with serving(options.engine) as daemon:
        for i in range(options.rounds):
            for width, times in floors.items():
                times.append(raw.many(f"{i}-{width}", 16, width) * 1000)
            ours.append(run_job(daemon, job_body(f"sixteen_{i}", options.image, ["sleep", str(MASTER_RUNS_S)], 15)) * 1000)
    row("job of 16 replicas", median(ours), "ms", min(median(times) for times in floors.values()), 0.95, 0.85)


@bench("hundred", engine=True)
def bench_hundred(options):
    raw, ours, floors = Raw(options.engine, options.image), [], {8: [], 16: []}
    with serving(options.engine) as daemon:
        for i in range(max(options.rounds // 2, 1)):
            for width, times in floors.items():
                times.append(raw.many(f"hundred-{i}-{width}", 100, width) * 1000)
            ours.append(run_job(daemon, job_body(f"hundred_{i}", options.image, ["sleep", str(MASTER_RUNS_S)], 99)) * 1000)
    row("job of 100 replicas", median(ours), "ms", min(median(times) for times in floors.values()), 1.0, 0.9)


@bench("fifty", engine=True)
def bench_fifty(options):
    """50 jobs of 2 replicas, submitted together, until the last has ended. The floor: the same engine calls, with the best
    degree of parallelism."""
    raw, ours, floors = Raw(options.engine, options.image), [], {4: [], 8: []}

    def together(count, width, run):
        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(width) as pool:
            list(pool.map(run, range(count)))
        return (time.monotonic() - began) * 1000

    with serving(options.engine) as daemon:
        for i in range(max(options.rounds // 2, 1)):
            for width, times in floors.items():
                times.append(together(50, width, lambda n: raw.many(f"fifty-{i}-{width}-{n}", 2, 2)))
            ours.append(together(50, 50, lambda n: run_job(daemon, job_body(
                f"fifty_{i}_{n}", options.image, ["sleep", str(MASTER_RUNS_S)], 1), look_every_s=0.1)))
    row("50 jobs of 2 replicas", median(ours), "ms", min(median(times) for times in floors.values()), 1.0, 0.9)


def gaps(engine, label, began_s, parallel):
    """Milliseconds from the end of each container to the start of its successor, by the engine's clock."""
    filters = {"type": ["container"], "event": ["start", "die"], "label": [label]}
    answer = engine.call("GET", "/events?" + query(since=f"{began_s:.9f}", until=f"{time.time():.9f}", filters=filters))
    events = [json.loads(line) for line in answer.splitlines()]
    starts, ends = (sorted(e["timeNano"] for e in events if e["Action"] == action) for action in ("start", "die"))
    assert len(starts) == TRIALS, len(starts)
    return [(start - end) / 1e6 for start, end in zip(starts[parallel:], ends)]


@bench("gap", engine=True)
def bench_gap(options):
    raw = Raw(options.engine, options.image)
    for parallel in (1, 4):
        floors, ours = {"new networks": [], "kept ones": []}, []
        with serving(options.engine) as daemon:
            label = f"trainyard.instance={daemon.read_instance()}"
            for i in range(max(options.rounds // 2, 1)):
                for keep, floor in enumerate(floors.values()):
                    began = time.time()
                    raw.trials(f"ty-bench-gap-{parallel}-{i}-{keep}", TRIALS, parallel, bool(keep))
                    floor += gaps(options.engine, "trainyard.bench", began, parallel)
                began = time.time()
                run_job(daemon, {"jobId": f"gap_{i}", "trainingInput": tuning_input(
                    f"{REPORTING}; sleep {TRIAL_RUNS_S}", image=options.image, algorithm="RANDOM_SEARCH", maxTrials=TRIALS,
                    maxParallelTrials=parallel)}, look_every_s=0.1)
                ours += gaps(options.engine, label, began, parallel)
        for name, floor in floors.items():
            row(f"gap of trials, {parallel} at once, beyond {name}", median(ours) - median(floor), "ms", None, 60, 20)


def compose_file(image):
    service = {"image": image, "init": True, "command": ["sleep", "600"]}
    return json.dumps({"version": "2.4", "services": {f"service{number}": service for number in range(4)}})


@bench("compose", engine=True)
def bench_compose(options):
    """Four programs that only wait: the time until all run, and from then until all are removed."""
    if not shutil.which("docker-compose"):
        print("4 programs: takes docker-compose")
        return
    ours, floor = {"up": [], "down": []}, {"up": [], "down": []}
    with serving(options.engine) as daemon, tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(compose_file(options.image))
        file.flush()
        command = ["docker-compose", "-f", file.name, "-p", "ty-bench-compose"]
        for i in range(options.rounds):
            for which, words in (("up", ["up", "-d"]), ("down", ["down"])):
                floor[which].append(timed_ms(*command, *words, environment={"DOCKER_HOST": options.engine.host}))
            began = time.monotonic()
            daemon.post(f"/v1/projects/{PROJECT}/jobs", job_body(f"compose_{i}", options.image, ["sleep", "600"], 3))
            daemon.wait_state(f"compose_{i}", "RUNNING", project=PROJECT)
            ours["up"].append((time.monotonic() - began) * 1000)
            began = time.monotonic()
            daemon.post(f"/v1/projects/{PROJECT}/jobs/compose_{i}:cancel", {})
            daemon.wait_state(f"compose_{i}", "CANCELLED", project=PROJECT)
            ours["down"].append((time.monotonic() - began) * 1000)
    for which in ours:
        row(f"4 programs {which}, floor by docker-compose", median(ours[which]), "ms", median(floor[which]), 1.0, 0.5)


@bench("queue")
def bench_queue(options):
    """The time of a job's end while others wait, on an engine without real containers."""
    text = subprocess.check_output([options.build / "tests/bench/queue_bench"], text=True)
    found = {int(waiting): (float(cpu), int(size)) for waiting, cpu, size in re.findall(
        r"^waiting +(\d+): .* +([\d.]+) ms CPU an end, +(\d+) bytes a waiting job", text, re.M)}
    for waiting in (1_000, 10_000, 100_000):
        row(f"CPU of a job's end, {waiting:,} wait", found[waiting][0], "ms", found[0][0], 1.2, 1.0)
    # The memory of 90,000 further jobs, when the store's caches are full.
    more = found[100_000][1] * 100_000 - found[10_000][1] * 10_000
    row("memory of a waiting job, beyond 10,000", more / 90_000, "bytes", None, 512, 256)


@bench("fleet")
def bench_fleet(options):
    """Jobs on the nodes of a simulated fleet. The program fails if it assigns a device or a node twice."""
    text = subprocess.check_output([options.build / "tests/bench/fleet_bench"], text=True)
    row("1000 nodes, 100000 jobs: decisions", float(re.search(r"(\d+) decisions a second", text)[1]), "decisions/s", None, 1000, 5000)
    for what in ("placed", "waiting"):
        row(f"a job {what}, p95", float(re.search(rf"^{what} .*p95 (\d+) us", text, re.M)[1]) / 1000, "ms", None, 5, 1)
