# SPDX-License-Identifier: Apache-2.0
"""Measures the optimizer alone, for bench.py: the time of a suggestion, and the quality of a search compared with a random
one."""
import json
import math
import random
import statistics
import subprocess
import time


class Optimizer:
    """tests/bench/suggest_bench, driven by lines of JSON."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def ask(self, op, **rest):
        self.process.stdin.write(json.dumps({"op": op} | rest) + "\n")
        answer = json.loads(self.process.stdout.readline())
        assert answer["ok"], answer
        return answer

    def open(self, study, params, seed, algorithm="ALGORITHM_UNSPECIFIED", **rest):
        self.ask("create", study=study, seed=seed, hyperparameters={
            "goal": "MINIMIZE", "hyperparameterMetricTag": "loss", "algorithm": algorithm, "maxTrials": 10_000, "params": params},
            **rest)

    def try_once(self, study, loss):
        """Runs one more trial; returns its loss, and the time of its suggestion in milliseconds."""
        began = time.perf_counter()
        trial = self.ask("suggest", study=study, count=1)["trials"][0]
        took = (time.perf_counter() - began) * 1000
        value = loss(trial["parameters"])
        self.ask("complete", study=study, id=trial["id"], metrics={"loss": value})
        return value, took


def number(name, low, high, kind="DOUBLE", scale="UNIT_LINEAR_SCALE"):
    return {"parameterName": name, "type": kind, "minValue": low, "maxValue": high, "scaleType": scale}


def branin(p):
    x, y = p["x"], p["y"]
    bend = y - 5.1 / (4 * math.pi**2) * x * x + 5 / math.pi * x - 6
    return bend * bend + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10 - 0.397887


def rosenbrock(p):
    x = [p[f"x{i}"] for i in range(6)]
    return math.log1p(sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in zip(x, x[1:])))


def network(p):
    """A loss like that of a trainer: a learning rate on a log scale, a number of layers, and one optimizer that suits
    better."""
    rate = math.log10(p["rate"]) + {"adam": 3, "sgd": 1.5, "rmsprop": 2.5}[p["optimizer"]]
    return rate * rate + 0.1 * abs(p["layers"] - 5) + {"adam": 0, "sgd": 0.2, "rmsprop": 0.3}[p["optimizer"]]


PROBLEMS = {
    "branin": (branin, [number("x", -5, 10), number("y", 0, 15)]),
    "rosenbrock, 6 parameters": (rosenbrock, [number(f"x{i}", -2, 2) for i in range(6)]),
    "a network's loss": (network, [number("rate", 1e-6, 1, scale="UNIT_LOG_SCALE"), number("layers", 1, 32, "INTEGER"), {
        "parameterName": "optimizer", "type": "CATEGORICAL", "categoricalValues": ["adam", "sgd", "rmsprop"]}]),
}


def best_losses(optimizer, problem, algorithm, trials, seeds):
    """For each seed, the best loss after this many trials; 0 is the optimum."""
    loss, params = PROBLEMS[problem]
    found = []
    for seed in range(seeds):
        optimizer.open("s", params, seed, algorithm)
        found.append(min(optimizer.try_once("s", loss)[0] for _ in range(trials)))
        optimizer.ask("close", study="s")
    return found


def suggestion_ms(optimizer, trials, rounds):
    """The median time of a suggestion after this many trials of 10 parameters, most of which were drawn at random."""
    params, draw = [number(f"x{i}", 0, 1) for i in range(10)], random.Random(1)

    def loss(p):
        return sum((i + 1) * (p[f"x{i}"] - 0.3) ** 2 for i in range(10)) + draw.gauss(0, 0.05)
    optimizer.open("before", params, 1, "RANDOM_SEARCH")
    for _ in range(trials):
        optimizer.try_once("before", loss)
    optimizer.open("s", params, 2, resume="before")
    taken = [optimizer.try_once("s", loss)[1] for _ in range(rounds)]
    for study in ("s", "before"):
        optimizer.ask("close", study=study)
    return statistics.median(taken)
