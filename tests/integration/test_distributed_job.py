# SPDX-License-Identifier: Apache-2.0
"""A distributed job with an image for each role, from submission to its end, and what its replicas can reach and see."""
import json
import pathlib
import re

import pytest

from support.daemon import MACHINE, PRINT_ENVIRONMENT, UNTIL_RELEASED, distributed, script, task_of, text_of
from support.engine import role_image
from support.marks import long
from support.wait import wait_until

GOLDEN = pathlib.Path(__file__).parent / "golden"
LEGAL = ["QUEUED", "PREPARING", "RUNNING", "SUCCEEDED"]


def three_images(master, worker, ps, workers=2, ps_count=1, **more):
    """As in the documentation's example: one image per role, the same args for all."""
    return dict(region="us-central1", scaleTier="CUSTOM", masterType=MACHINE, masterConfig={"imageUri": master},
                workerType=MACHINE, workerCount=str(workers), workerConfig={"imageUri": worker},
                parameterServerType=MACHINE, parameterServerCount=str(ps_count),
                parameterServerConfig={"imageUri": ps}, **more)


def watch(yard, job_id, seen, until):
    """Adds to `seen` each state that a client sees, once, until the job is in the state `until` or has ended."""
    def there():
        job = yard.job(job_id)
        if job["state"] not in seen:
            seen.append(job["state"])
        return job["state"] == until or "endTime" in job
    wait_until(there, 60)


def test_each_role_runs_its_own_image_with_the_users_args_and_states_pass_in_order(yard):
    serve_or_end = ('case $(cat /image) in ps) trap "exit 0" TERM; while :; do sleep 0.1; done;; '
                    "master) " + UNTIL_RELEASED + ";; esac")
    args = ["--train-files", "gs://my-bucket/train", "--flag=an argument with spaces", "", serve_or_end]
    job_id = yard.create(three_images(*map(role_image, ("master", "worker", "ps")), args=args))
    seen, roles = [], {"master-replica-0": "master", "worker-replica-0": "worker", "worker-replica-1": "worker",
                       "ps-replica-0": "ps"}
    watch(yard, job_id, seen, "RUNNING")
    yard.release(job_id, after={task: 1 + len(args) for task in roles})
    watch(yard, job_id, seen, None)
    assert seen == [s for s in LEGAL if s in seen] and seen[-1] == "SUCCEEDED", seen
    assert "RUNNING" in seen

    for task, role in roles.items():
        assert yard.lines(job_id, task) == [f"image {role}"] + [f"arg {a}" for a in args], task

    job = yard.job(job_id)
    assert job["createTime"] <= job["startTime"] <= job["endTime"]
    assert "errorMessage" not in job and "jobPosition" not in job
    assert job["trainingInput"]["workerCount"] == "2"
    assert yard.containers(job_id) == []


# ---- what a replica is told ------------------------------------------------------------------------------

SHAPES = {
    "alone": (dict(), ["master-replica-0"]),
    "master_and_workers": (dict(workers=2), ["master-replica-0", "worker-replica-0", "worker-replica-1"]),
    "with_ps": (dict(workers=1, ps_count=2), ["master-replica-0", "worker-replica-0", "ps-replica-0", "ps-replica-1"]),
    "with_evaluator": (dict(workers=1, ps_count=1, evaluators=1),
                       ["master-replica-0", "worker-replica-0", "ps-replica-0", "evaluator-replica-0"]),
    "chief": (dict(workers=1, useChiefInTfConfig=True), ["master-replica-0", "worker-replica-0"]),
}


def seen_by_replicas(yard, job_id, tasks):
    """The environment and files of the replicas; random and job-specific parts are replaced so that two runs are equal."""
    told, hex_id = {}, None
    for task in tasks:
        environment = yard.environment(job_id, task)
        cluster_spec, tf_config = json.loads(environment["CLUSTER_SPEC"]), json.loads(environment["TF_CONFIG"])
        for spec in (cluster_spec, tf_config):
            spec.pop("job", None)
            spec["task"].pop("cloud", None)
        found = set(re.findall(r"cmle-training-\w+-([0-9a-f]{10})-\d+:2222", json.dumps(cluster_spec)))
        assert len(found) <= 1 and (hex_id is None or found == hex_id), (found, hex_id)
        hex_id = found
        told[task] = {"CLUSTER_SPEC": cluster_spec, "TF_CONFIG": tf_config,
                      "CLOUD_ML": sorted(k for k in environment if k.startswith("CLOUD_ML"))}
    text = json.dumps(told, indent=1, sort_keys=True)
    return json.loads(re.sub(r"-[0-9a-f]{10}-(\d+:2222)", r"-0123456789-\1", text))


@pytest.mark.parametrize("shape", ["with_evaluator", *map(long, ["chief", "with_ps", "alone", "master_and_workers"])])
def test_replicas_are_told_the_cluster_and_their_place_in_it(yard, shape):
    counts, tasks = SHAPES[shape]
    others = PRINT_ENVIRONMENT
    text = PRINT_ENVIRONMENT + "; " + UNTIL_RELEASED
    training_input = (distributed(text, others, others, others, **counts) if counts else script(text))
    job_id = yard.create(training_input)
    yard.release(job_id, after={task: 1 for task in tasks})
    yard.until(job_id, "SUCCEEDED")
    golden = json.loads((GOLDEN / f"{shape}.json").read_text())
    assert seen_by_replicas(yard, job_id, tasks) == golden


def test_replicas_read_the_submitted_input_back_from_their_environment(yard):
    job_id = yard.create(script(PRINT_ENVIRONMENT, scheduling={"maxRunningTime": "3600s"}))
    yard.until(job_id, "SUCCEEDED")
    environment = yard.environment(job_id)
    given = {"args": ["sh", "-c", PRINT_ENVIRONMENT], "region": "us-central1",
             "master_config": {"image_uri": "trainyard-test:1"}}
    for name in ("CLOUD_ML_JOB", "CLUSTER_SPEC", "TF_CONFIG"):
        value = json.loads(environment[name])
        if name != "CLOUD_ML_JOB":
            value = value["job"]
            value = json.loads(value) if isinstance(value, str) else value
        assert {k: value[k] for k in given} == given, name
        assert "'" not in environment["CLOUD_ML_JOB"] and "=" not in environment["CLOUD_ML_JOB"]
    assert environment["CLOUD_ML_JOB_ID"] == job_id
    assert environment["CLOUD_ML_PROJECT_ID"] == yard.project
    assert not [k for k in environment if k.startswith("CLOUD_ML_HP") or k == "CLOUD_ML_TRIAL_ID"]
    assert [k for k in environment if k.startswith("AIP_")] == []


def test_every_name_of_the_cluster_resolves_before_user_code_starts(yard):
    # The first line of ping shows the address of a name; whether that address already answers does not matter.
    look_up = ('look_up() { ping -c 1 -W 1 "$1" 2>&1 | grep -q "^PING $1 (" && echo "resolved $1" || echo "lost $1"; }; '
               'for name in $(echo "$CLUSTER_SPEC" | grep -o "cmle-training-[a-z]*-[0-9a-f]*-[0-9]*" | sort -u); do '
               'look_up "$name" & done; wait')
    tasks = ("master-replica-0", "worker-replica-0", "worker-replica-1", "ps-replica-0")
    job_id = yard.create(distributed(look_up + "; " + UNTIL_RELEASED, look_up, look_up, workers=2, ps_count=1))
    yard.release(job_id, after={task: 4 for task in tasks})
    yard.until(job_id, "SUCCEEDED")
    for task in tasks:
        lines = yard.lines(job_id, task)
        assert len(lines) == 4 and all(line.startswith("resolved cmle-training-") for line in lines), (task, lines)


def test_replicas_reach_each_other_on_port_2222(yard):
    peer = 'host=$(echo "$CLUSTER_SPEC" | grep -o "cmle-training-worker-[0-9a-f]*-0" | head -n 1); '
    job_id = yard.create(distributed(
        peer + 'until got=$(nc "$host" 2222 </dev/null 2>/dev/null) && [ -n "$got" ]; do sleep 0.05; done; echo "got $got"',
        'echo hello | nc -l -p 2222; echo served', workers=1))
    yard.until(job_id, "SUCCEEDED")
    assert yard.lines(job_id) == ["got hello"]


def test_two_jobs_do_not_reach_each_other(yard):
    job_id = yard.create(script("nc -l -p 2222 & until netstat -ltn | grep -q :2222; do sleep 0.05; done; hostname -i; wait"))
    try:
        address = yard.wait_lines(job_id)[0].split()[0]
        other = yard.create(script(f"nc -w 1 {address} 2222 </dev/null 2>/dev/null && echo reached || echo unreachable"))
        yard.until(other, "SUCCEEDED")
        assert yard.lines(other) == ["unreachable"]
    finally:
        yard.cancel(job_id)
        yard.until(job_id, "CANCELLED")


def test_an_image_without_args_runs_its_default_command(yard):
    job_id = yard.create(dict(region="us-central1", masterConfig={"imageUri": "trainyard-test:1"}))
    yard.until(job_id, "SUCCEEDED")
    assert yard.lines(job_id) == ["the default command"]


@pytest.mark.long
def test_a_role_without_an_image_of_its_own_gets_the_masters_image_and_command(yard):
    training_input = distributed('echo "I am $(hostname | cut -d- -f3)"; ' + UNTIL_RELEASED, "", workers=1)
    del training_input["workerConfig"]
    job_id = yard.create(training_input)
    yard.release(job_id, after={"worker-replica-0": 1})
    yard.until(job_id, "SUCCEEDED")
    assert yard.lines(job_id, "worker-replica-0") == ["I am worker"]


def test_the_job_directory_follows_the_args(yard):
    job_id = yard.create(dict(region="us-central1", masterConfig={"imageUri": role_image("master")},
                              jobDir="gs://my-bucket/dir", args=["--steps=3"]))
    yard.until(job_id, "FAILED")  # the image runs its last argument, and gs://... is no command
    said = [line for line in yard.lines(job_id) if line.startswith("arg ")]
    assert said == ["arg --steps=3", "arg --job-dir", "arg gs://my-bucket/dir"]


def test_containers_have_no_privileges_and_no_way_to_the_host(yard, engine):
    job_id = yard.create(script("sleep 60"))
    try:
        inspected = engine.inspect(yard.container(job_id))
        host = inspected["HostConfig"]
        assert not host["Privileged"] and not host["CapAdd"] and not host["PortBindings"]
        # Only one file of the host is mounted: the certificates to trust.
        assert not host["Binds"] and all(mount["Source"].endswith("/ca/bundle.crt") and mount["Target"] == "/trainyard/ca.crt" and
                                         mount["ReadOnly"] for mount in host.get("Mounts") or [])
        assert any("no-new-privileges" in option for option in host["SecurityOpt"])
        assert host["Init"] and host["PidsLimit"] > 0 and host["ShmSize"] > 0
        assert host["PidMode"] == "" and host["IpcMode"] in ("private", "shareable", "") and host["NetworkMode"] != "host"
        assert host["RestartPolicy"]["Name"] in ("no", "")
    finally:
        yard.cancel(job_id)
        yard.until(job_id, "CANCELLED")


@pytest.mark.long
def test_a_job_of_many_replicas_starts_them_all(yard):
    # The end of the master ends the job, so the master waits for a connection of each worker.
    master = "n=0; while [ $n -lt 11 ]; do echo ok | nc -l -p 2222 >/dev/null; n=$((n+1)); done"
    worker = ('host=$(echo "$CLUSTER_SPEC" | grep -o "cmle-training-master-[0-9a-f]*-0" | head -n 1); echo here; '
              'until [ "$(nc $host 2222 </dev/null 2>/dev/null)" = ok ]; do sleep 0.05; done')
    job_id = yard.create(distributed(master, worker, workers=11))
    yard.until(job_id, "SUCCEEDED", timeout=120)
    tasks = [task_of(e) for e in yard.entries(job_id) if text_of(e) == "here"]
    assert sorted(tasks) == sorted(f"worker-replica-{i}" for i in range(11))
