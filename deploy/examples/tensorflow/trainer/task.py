# SPDX-License-Identifier: Apache-2.0
"""MultiWorkerMirroredStrategy: TF_CONFIG says which worker this is. Data come from gs://, the chief's model goes to gs://, by TensorFlow's
own file system. For TensorFlow 2.12 to 2.15."""
import argparse
import json
import os

import tensorflow as tf


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--data", required=True, help="gs:// path of lines x,y")
    parser.add_argument("--job-dir", required=True, help="gs:// path for the model")
    flags = parser.parse_args()
    task = json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {"type": "chief", "index": 0})
    is_chief = task["type"] in ("chief", "master")

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    lines = tf.io.gfile.GFile(flags.data).read().split()
    rows = tf.constant([[float(number) for number in line.split(",")] for line in lines])
    data = tf.data.Dataset.from_tensor_slices((rows[:, :1], rows[:, 1:])).repeat().batch(16)
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
        model.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss="mse")
    model.fit(data, epochs=5, steps_per_epoch=40, verbose=2)
    weight, offset = (float(values.numpy().flatten()[0]) for values in model.weights)
    print(f"{task['type']} {task['index']}: {strategy.num_replicas_in_sync} replicas, y = {weight:.2f} x + {offset:.2f}", flush=True)
    # All workers must save; only the chief's model is kept.
    model.save(f"{flags.job_dir}/model" if is_chief else f"/tmp/model-{task['index']}")


if __name__ == "__main__":
    main()
