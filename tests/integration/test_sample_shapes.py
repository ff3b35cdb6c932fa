# SPDX-License-Identifier: Apache-2.0
"""Jobs like those of Google's samples for custom training, each named after its sample, run to their end.

Names and texts are ours. The members, their spelling and their JSON types are those that the samples' clients send."""
import pytest

from support.vertex import DEFINITIONS, Vertex

IMAGE = "trainyard-test-sample:1"
# A trainer that succeeds with any arguments; in a trial it reports as cloudml-hypertune does.
PROGRAM = b"""#!/bin/sh
echo "ran with $*"
[ -z "$CLOUD_ML_HP_METRIC_FILE" ] || printf '{"global_step": "1", "accuracy": "0.5", "timestamp": %s.5, "trial": "%s"}\\n' \\
	"$(date +%s)" "$CLOUD_ML_TRIAL_ID" > "$CLOUD_ML_HP_METRIC_FILE"
"""
TRAINER = "gcr.io/sample-project/trainer:v1"
T4 = {"acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 1}


def pool(machine, count=1, image=TRAINER, args=(), **more):
    """A pool as the typed messages of Python and Node send it by REST: counts of replicas are strings."""
    return {"machineSpec": machine, "replicaCount": str(count), "containerSpec": {"imageUri": image, "args": list(args)}, **more}


def loose_pool(count=1, machine="n1-standard-4", **more):
    """A pool as the Python library writes it into a pipeline's inputs: names in both spellings, all numbers as doubles."""
    return {"machine_spec": {"machine_type": machine, **more}, "replica_count": float(count),
            "disk_spec": {"boot_disk_type": "pd-ssd", "boot_disk_size_gb": 100.0},
            "containerSpec": {"imageUri": TRAINER, "args": ["--epochs=3"]}}


def job(*pools, **spec):
    return "customJobs", {"displayName": "sample", "jobSpec": {"workerPoolSpecs": list(pools), **spec}}


def line(*pools, **inputs):
    return "trainingPipelines", {
        "displayName": "sample", "trainingTaskDefinition": DEFINITIONS + "custom_task_1.0.0.yaml",
        "trainingTaskInputs": {"worker_pool_specs": list(pools), "base_output_directory": {"output_uri_prefix": "gs://samples/out"},
                               **inputs}}


def search(parameters, count=2, study=None, **spec):
    return "hyperparameterTuningJobs", {
        "displayName": "sample", "maxTrialCount": count, "parallelTrialCount": 2,
        "studySpec": {"metrics": [{"metricId": "accuracy", "goal": 1}], "parameters": parameters, **(study or {})},
        "trialJobSpec": {"workerPoolSpecs": [pool({"machineType": "n1-standard-4", **T4})], **spec}}


SHAPES = {
    # nodejs-docs-samples: empty lists, and a GPU, which this machine need not have.
    "create-custom-job.js": job(
        {"machineSpec": {"machineType": "n1-standard-4", "acceleratorType": 5, "acceleratorCount": 1}, "replicaCount": 1,
         "containerSpec": {"imageUri": TRAINER, "command": [], "args": []}}),
    # python-aiplatform: snippets/job_service; a discrete parent parameter, and children for some of its values.
    "create_hyperparameter_tuning_job_python_package_sample": search([
        {"parameterId": "batch_size", "discreteValueSpec": {"values": [4, 8, 16, 32, 64, 128]}, "scaleType": 1,
         "conditionalParameterSpecs": [
             {"parameterSpec": {"parameterId": "decay", "doubleValueSpec": {"minValue": 1e-07, "maxValue": 1}, "scaleType": 1},
              "parentDiscreteValues": {"values": [32, 64]}},
             {"parameterSpec": {"parameterId": "learning_rate", "doubleValueSpec": {"minValue": 1e-07, "maxValue": 1},
                                "scaleType": 1},
              "parentDiscreteValues": {"values": [4, 8, 16]}}]}], study={"algorithm": 3}),
    # python-aiplatform: model-builder; each kind of parameter, with empty lists of conditions.
    "create_hyperparameter_tuning_job_sample": search([
        {"parameterId": "lr", "doubleValueSpec": {"minValue": 0.001, "maxValue": 0.1}, "scaleType": 2, "conditionalParameterSpecs": []},
        {"parameterId": "units", "integerValueSpec": {"minValue": "4", "maxValue": "128"}, "scaleType": 1,
         "conditionalParameterSpecs": []},
        {"parameterId": "activation", "categoricalValueSpec": {"values": ["relu", "selu"]}, "conditionalParameterSpecs": []},
        {"parameterId": "batch_size", "discreteValueSpec": {"values": [128, 256]}, "scaleType": 1,
         "conditionalParameterSpecs": []}], count=4),
    # python-aiplatform: model-builder; the network and the interface for Private Service Connect have no effect but are
    # reported.
    "create_custom_job_psci_sample": job(
        pool({"machineType": "n2-standard-4"}), pscInterfaceConfig={
            "networkAttachment": "a", "dnsPeeringConfigs": [{"domain": "a.example.", "targetProject": "p", "targetNetwork": "n"}]}),
    # vertex-ai-samples: official/training
    "hyperparameter_tuning_xgboost": search(
        [{"parameterId": "boost-rounds", "integerValueSpec": {"minValue": "10", "maxValue": "100"}, "scaleType": 1}],
        study={"measurementSelectionType": 2}, baseOutputDirectory={"outputUriPrefix": "gs://samples/aiplatform-custom-job"}),
    "get_started_with_vertex_distributed_training": line(
        loose_pool(), loose_pool(2, "n1-standard-8", accelerator_type="NVIDIA_TESLA_T4", accelerator_count=1.0)),
    "multi_node_ddp_gloo_vertex_training_with_custom_container": line(
        loose_pool(), loose_pool(3), enable_web_access=True, enable_dashboard_access=True,
        scheduling={"timeout": "3600s", "restart_job_on_worker_restart": False, "strategy": None, "max_wait_duration": None}),
    "tpuv5e_gemma_peft_finetuning_and_serving": job(
        pool({"machineType": "ct5lp-hightpu-1t", "tpuTopology": "1x1"}, args=["--steps", "1"])),
    # vertex-ai-samples: official/reduction_server; the third pool has reducers with an image of Google's, on CPUs.
    "pytorch_distributed_training_reduction_server": line(
        loose_pool(accelerator_type="NVIDIA_TESLA_T4", accelerator_count=1.0),
        loose_pool(1, accelerator_type="NVIDIA_TESLA_T4", accelerator_count=1.0),
        loose_pool(2, "n1-highcpu-16") | {
            "containerSpec": {"imageUri": "us-docker.pkg.dev/vertex-ai-restricted/training/reductionserver:latest"}}),
    # vertex-ai-samples: community/gapic/custom; arguments, disks, and environment variables with names of the service's.
    "showcase_custom_image_classification_online_container": job(
        pool({"machineType": "n1-standard-4", "acceleratorCount": 0}, args=["--model-dir=$(AIP_MODEL_DIR)", "--steps=2"],
             diskSpec={"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100}),
        baseOutputDirectory={"outputUriPrefix": "gs://samples/showcase"}, serviceAccount="sa@p.iam.gserviceaccount.com"),
    # vertex-ai-samples: official/custom; the trained model is uploaded, to be served by a prebuilt image.
    "custom_training_container_and_model_registry": (lambda collection, body: (collection, body | {"modelToUpload": {
        "displayName": "m", "versionAliases": ["default"],
        "containerSpec": {"imageUri": "us-docker.pkg.dev/vertex-ai/prediction/tf2-cpu.2-11:latest"}}}))(*line(loose_pool())),
}


@pytest.fixture(scope="module")
def sampler(engine, make_daemon):
    if not engine.has_image(IMAGE):
        engine.import_image(IMAGE, {"entry": PROGRAM}, ['ENTRYPOINT ["/entry"]'])
    daemon = make_daemon("--offline", "--stop-grace", "2", "--image-map", f"*={IMAGE}").start()
    yield daemon
    daemon.stop()


@pytest.fixture(scope="module")
def made(sampler):
    """Creates all of them at once; returns the answers."""
    return {name: sampler.post(f"{Vertex(sampler).parent}/{collection}", body) for name, (collection, body) in SHAPES.items()}


# Fails with: without doubles in value_to_integer(), those with doubles are refused.
@pytest.mark.parametrize("name", SHAPES)
def test_a_job_of_the_sample_s_shape_ends_well(sampler, made, name):
    collection, body = SHAPES[name]
    jobs = Vertex(sampler, collection=collection)
    assert made[name].status == 200, made[name]
    job = jobs.until(made[name].json["name"], "PIPELINE_STATE_SUCCEEDED" if collection == "trainingPipelines" else "JOB_STATE_SUCCEEDED",
                     timeout=120)
    assert "error" not in job and job["displayName"] == "sample"
    if collection == "hyperparameterTuningJobs":
        assert [trial["state"] for trial in job["trials"]] == ["SUCCEEDED"] * body["maxTrialCount"], job["trials"]
        return
    if collection == "trainingPipelines":
        job = Vertex(sampler).get(job["trainingTaskMetadata"]["backingCustomJob"])
        pools = body["trainingTaskInputs"]["worker_pool_specs"]
    else:
        pools = body["jobSpec"]["workerPoolSpecs"]
    asked = [int(pool.get("replicaCount") or pool["replica_count"]) for pool in pools]
    assert [int(pool["replicaCount"]) for pool in job["jobSpec"]["workerPoolSpecs"]] == asked


# Fails with: with a data set's annotations asked for before the definition is looked at.
def test_what_is_no_custom_training_is_refused_in_words(sampler):
    """python-aiplatform: snippets/pipeline_service/create_training_pipeline_image_classification_sample."""
    jobs = Vertex(sampler, collection="trainingPipelines")
    answer = sampler.post(f"{jobs.parent}/trainingPipelines", {
        "displayName": "sample", "trainingTaskDefinition": DEFINITIONS + "automl_image_classification_1.0.0.yaml",
        "trainingTaskInputs": {"multiLabel": True, "modelType": "CLOUD", "budgetMilliNodeHours": 8000.0, "disableEarlyStopping": False},
        "modelToUpload": {"displayName": "m"}, "inputDataConfig": {"datasetId": "1"}})
    assert answer.status == 400 and "training_task_definition; Message: trainyard runs" in answer.error["message"], answer
