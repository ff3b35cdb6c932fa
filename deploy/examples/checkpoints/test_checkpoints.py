# SPDX-License-Identifier: Apache-2.0
"""Preempts the trainer's machine, and expects the trainer to continue from its checkpoint. Needs pytest-trainyard:

trainyard exec -- pytest test_checkpoints.py"""
import pathlib
import re

IMAGE = "trainyard-runtime"  # deploy/runtime/build makes it; any image with Python 3 will do
TRAINER = pathlib.Path(__file__).parent / "trainer"
EPOCHS = 50


def test_a_preempted_trainer_goes_on_from_its_checkpoint(trainyard):
    trainyard.fault("preempt", logPattern="^saved epoch 2$")
    job = trainyard.run(IMAGE, f"--epochs={EPOCHS}", "--pause=0.2", package=TRAINER, module="trainer.task", gs="gs://line/run")
    lines = [line["message"] for line in trainyard.logs(job)]
    resumed = [int(match[1]) for match in (re.fullmatch(r"goes on after epoch (\d+)", line) for line in lines) if match]
    assert len(resumed) == 1 and 2 <= resumed[0] < EPOCHS, lines
    assert "y = 3.00 x + 1.00" in lines
    # No epoch was trained twice, except the interrupted one.
    assert len([line for line in lines if line.startswith("saved epoch ")]) <= EPOCHS + 1
    stored = [str(one) for one in trainyard.gs("gs://line/run/checkpoints/").list()]
    assert len([name for name in stored if name.endswith(".json")]) == EPOCHS
