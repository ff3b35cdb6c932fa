# SPDX-License-Identifier: Apache-2.0
"""The cells of a notebook that uses the Vertex AI SDK: upload data, train, read the model.

eval "$(trainyard env)"; IMAGE=my-image:1 python vertex_sdk.py

For the cloud: omit api_endpoint and api_transport, and use your own project and bucket."""
# %% Where the daemon is
import os

from google.cloud import aiplatform, storage

aiplatform.init(project=os.environ.get("CLOUDSDK_CORE_PROJECT", "local-project"), location="us-central1",
                api_endpoint=os.environ.get("TRAINYARD_ENDPOINT", "http://127.0.0.1:8090"), api_transport="rest",
                staging_bucket="gs://notebook")

# %% Put the data into a bucket
bucket = storage.Client().bucket("notebook")
bucket.blob("data/train.csv").upload_from_string("1,4\n2,7\n3,10\n")

# %% Train: the program reads /gcs, and writes to AIP_MODEL_DIR
PROGRAM = ('model=$(echo "$AIP_MODEL_DIR" | sed "s,^gs://,/gcs/,"); mkdir -p "$model"; '
           'echo "rows: $(wc -l </gcs/notebook/data/train.csv)" | tee "$model/model.txt"')
job = aiplatform.CustomJob(
    display_name="from-a-notebook", base_output_dir="gs://notebook/run",
    worker_pool_specs=[{"machine_spec": {"machine_type": "n1-standard-4"}, "replica_count": 1,
                        "container_spec": {"image_uri": os.environ.get("IMAGE", "my-image:1"), "command": ["sh", "-c"],
                                           "args": [PROGRAM]}}])
job.run(sync=True)

# %% Read the model
print("state:", job.state.name)
print("model:", bucket.blob("run/model/model.txt").download_as_text().strip())
