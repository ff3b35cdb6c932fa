# SPDX-License-Identifier: Apache-2.0
"""Fits a line, stores a checkpoint after each epoch, and goes on from the last one: what every job on preemptible machines needs.

The checkpoint directory is AIP_CHECKPOINT_DIR, as Vertex AI sets it, and is read and written as files below /gcs."""
import argparse
import json
import os
import pathlib
import random
import time


def directory():
    """gs://bucket/run/checkpoints as a directory."""
    return pathlib.Path(os.environ["AIP_CHECKPOINT_DIR"].replace("gs://", "/gcs/", 1))


def restored(path):
    """Loads the last checkpoint. It is complete, because an object appears only when its file is closed."""
    found = sorted(path.glob("*.json")) if path.is_dir() else []
    if not found:
        return {"epoch": 0, "slope": 0.0, "offset": 0.0}
    state = json.loads(found[-1].read_text())
    print(f"goes on after epoch {state['epoch']}", flush=True)
    return state


def train_epoch(state, data, rate=0.05):
    for x, y in data:
        error = state["slope"] * x + state["offset"] - y
        state["slope"] -= rate * error * x
        state["offset"] -= rate * error
    state["epoch"] += 1


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds after each epoch")
    flags = parser.parse_args()
    numbers = random.Random(1)
    data = [(x, 3 * x + 1) for x in (numbers.uniform(-1, 1) for _ in range(50))]
    path = directory()
    state = restored(path)
    while state["epoch"] < flags.epochs:
        train_epoch(state, data)
        path.mkdir(parents=True, exist_ok=True)
        (path / f"{state['epoch']:06}.json").write_text(json.dumps(state))
        print(f"saved epoch {state['epoch']}", flush=True)
        time.sleep(flags.pause)
    print(f"y = {state['slope']:.2f} x + {state['offset']:.2f}", flush=True)


if __name__ == "__main__":
    main()
