# SPDX-License-Identifier: Apache-2.0
"""Learns to read digits: reads its data from Cloud Storage, stores a checkpoint in the job's directory after each epoch, and
continues from the last one when it is restarted. It uses nothing of trainyard, only Cloud Storage."""
import argparse
import json
import math
import random

from google.cloud import storage

CLASSES = 10


def parse_flags():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--data", required=True, help="gs:// path of rows of pixels, each with its digit at the end")
    parser.add_argument("--job-dir", required=True, help="gs:// path for checkpoints and the model")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--learning-rate", type=float, default=0.01)
    return parser.parse_args()


def blob_of(client, path):
    bucket, _, name = path[len("gs://"):].partition("/")
    return client.bucket(bucket).blob(name)


def read_images(client, path):
    """Pairs of pixels from 0 to 1, a constant for the bias at their end, and a digit."""
    images = []
    for line in blob_of(client, path).download_as_bytes().decode().splitlines():
        *pixels, digit = map(int, line.split(","))
        images.append(([pixel / 16 for pixel in pixels] + [1.0], digit))
    return images


def odds_of(weights, pixels):
    scores = [sum(map(lambda w, p: w * p, row, pixels)) for row in weights]
    most = max(scores)
    powers = [math.exp(score - most) for score in scores]
    return [power / sum(powers) for power in powers]


def learn(weights, images, rate):
    """One epoch of softmax regression. Returns the mean loss."""
    loss = 0.0
    for pixels, digit in images:
        odds = odds_of(weights, pixels)
        loss -= math.log(max(odds[digit], 1e-12)) / len(images)
        for label, row in enumerate(weights):
            step = rate * ((label == digit) - odds[label])
            for i, pixel in enumerate(pixels):
                row[i] += step * pixel
    return loss


def accuracy(weights, images):
    right = 0
    for pixels, digit in images:
        odds = odds_of(weights, pixels)
        right += odds.index(max(odds)) == digit
    return right / len(images)


def last_checkpoint(client, job_dir, size):
    """The number of epochs trained so far, and the weights after them."""
    bucket, _, prefix = job_dir[len("gs://"):].partition("/")
    names = sorted(blob.name for blob in client.list_blobs(bucket, prefix=(prefix + "/" if prefix else "") + "checkpoints/"))
    if not names:
        return 0, [[0.0] * size for _ in range(CLASSES)]
    found = json.loads(client.bucket(bucket).blob(names[-1]).download_as_bytes())
    print(f"goes on after epoch {found['epoch']}, from gs://{bucket}/{names[-1]}", flush=True)
    return found["epoch"], found["weights"]


def save(client, path, value):
    blob_of(client, path).upload_from_string(json.dumps(value), content_type="application/json")


def main():
    flags, client = parse_flags(), storage.Client()
    job_dir = flags.job_dir.rstrip("/")
    images = read_images(client, flags.data)
    first, weights = last_checkpoint(client, job_dir, len(images[0][0]))
    print(f"{len(images)} images from {flags.data}", flush=True)
    for epoch in range(first + 1, flags.epochs + 1):
        random.Random(epoch).shuffle(images)
        loss = learn(weights, images, flags.learning_rate)
        save(client, f"{job_dir}/checkpoints/{epoch:06}.json", {"epoch": epoch, "weights": weights})
        print(f"epoch {epoch}/{flags.epochs}: loss {loss:.4f}", flush=True)
    save(client, f"{job_dir}/model.json", {"weights": weights, "accuracy": accuracy(weights, images)})
    print(f"accuracy {accuracy(weights, images):.4f}, model at {job_dir}/model.json", flush=True)


if __name__ == "__main__":
    main()
