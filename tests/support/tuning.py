# SPDX-License-Identifier: Apache-2.0
"""Tuning jobs for tests: a program that reports the parameters it was given, and searches over these."""

# `sh -c` takes its first argument as a name; the flags of a trial follow it.
REPORTING = ("for a in \"$0\" \"$@\"; do case $a in --x=*) x=${a#--x=};; --kind=*) kind=${a#--kind=};; esac; done; "
             "echo trial $CLOUD_ML_TRIAL_ID has $x $kind; "
             "printf '{\"global_step\": \"7\", \"score\": \"%s\", \"timestamp\": %s.5, \"trial\": \"%s\"}\\n' "
             "\"$x\" \"$(date +%s)\" \"$CLOUD_ML_TRIAL_ID\" > \"$CLOUD_ML_HP_METRIC_FILE\"")

X = {"parameterName": "x", "type": "DOUBLE", "minValue": 0, "maxValue": 10}
KIND = {"parameterName": "kind", "type": "CATEGORICAL", "categoricalValues": ["plain", "a, \"b\""]}


def search(*params, **more):
    """A HyperparameterSpec."""
    return {"goal": "MAXIMIZE", "hyperparameterMetricTag": "score", "maxTrials": 4, "maxParallelTrials": 2,
            "params": list(params or (X, KIND))} | more


def tuning_input(text=REPORTING, *params, image="trainyard-test:1", **spec):
    return {"region": "us-central1", "masterConfig": {"imageUri": image}, "args": ["sh", "-c", text],
            "hyperparameters": search(*params, **spec)}
