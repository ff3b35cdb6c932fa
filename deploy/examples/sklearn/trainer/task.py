# SPDX-License-Identifier: Apache-2.0
"""Digits with scikit-learn, tuned: each trial gets its own --penalty and --solver and reports its accuracy. AI Platform Training reads
the metric from the file of CLOUD_ML_HP_METRIC_FILE, which the package cloudml-hypertune writes as well."""
import argparse
import json
import os
import time

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split


def report(tag, value):
    with open(os.environ.get("CLOUD_ML_HP_METRIC_FILE", "/tmp/metric"), "a", encoding="utf-8") as file:
        file.write(json.dumps({"timestamp": time.time(), "trial": os.environ.get("CLOUD_ML_TRIAL_ID", "0"), tag: str(value),
                               "global_step": "1"}) + "\n")


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--penalty", type=float, default=1.0)
    parser.add_argument("--solver", default="lbfgs")
    parser.add_argument("--job-dir", default="")
    flags = parser.parse_args()
    images, digits = load_digits(return_X_y=True)
    train, test, train_digits, test_digits = train_test_split(images / 16, digits, random_state=1)
    model = LogisticRegression(C=1 / flags.penalty, solver=flags.solver, max_iter=300).fit(train, train_digits)
    accuracy = model.score(test, test_digits)
    print(f"penalty {flags.penalty:g}, solver {flags.solver}: accuracy {accuracy:.4f}", flush=True)
    report("accuracy", accuracy)


if __name__ == "__main__":
    main()
