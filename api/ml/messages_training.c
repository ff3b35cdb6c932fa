/* SPDX-License-Identifier: Apache-2.0 */
/* The message TrainingInput and the messages in it. */
#include "api/ml/field_rows.h"
#include "api/ml/messages.h"

/* Enum values have the numbers of this API's public protocol buffers. If these lack a value, it has the number that the
 * same name has in those of the successor, aiplatform, provided that its place in the discovery document agrees. If
 * not, only the name is known (ENUM_BY_NAME).
 * Source: https://github.com/googleapis/googleapis/blob/master/google/cloud/ml/v1/job_service.proto and
 * https://github.com/googleapis/googleapis/blob/master/google/cloud/aiplatform/v1/accelerator_type.proto (read
 * 2026-11-25) */
static const struct enum_value scale_tier_values[] = {
	{ "BASIC", 0, "One small machine." },
	{ "STANDARD_1", 1, "A master, 4 workers and 3 parameter servers." },
	{ "PREMIUM_1", 3, "A large master, 19 workers and 11 parameter servers." },
	{ "BASIC_GPU", 6, "One machine with one K80 GPU." },
	{ "BASIC_TPU", ENUM_BY_NAME, "A master and a Cloud TPU." },
	{ "CUSTOM", 5, "What the fields of machine types and counts say." },
	END_OF_VALUES,
};
const struct enum_type ml_scale_tier = { "google.cloud.ml.v1.TrainingInput.ScaleTier", scale_tier_values };

static const struct enum_value accelerator_type_values[] = {
	{ "ACCELERATOR_TYPE_UNSPECIFIED", 0, "No accelerator." },
	{ "NVIDIA_TESLA_K80", 1, "Nvidia K80 GPU." },
	{ "NVIDIA_TESLA_P100", 2, "Nvidia P100 GPU." },
	{ "NVIDIA_TESLA_V100", 3, "Nvidia V100 GPU." },
	{ "NVIDIA_TESLA_P4", 4, "Nvidia P4 GPU." },
	{ "NVIDIA_TESLA_T4", 5, "Nvidia T4 GPU." },
	{ "NVIDIA_TESLA_A100", ENUM_BY_NAME, "Nvidia A100 GPU, on A2 machines." },
	{ "TPU_V2", ENUM_BY_NAME, "Cloud TPU v2." },
	{ "TPU_V3", ENUM_BY_NAME, "Cloud TPU v3." },
	{ "TPU_V2_POD", ENUM_BY_NAME, "A slice of a Cloud TPU v2 pod." },
	{ "TPU_V3_POD", ENUM_BY_NAME, "A slice of a Cloud TPU v3 pod." },
	{ "TPU_V4_POD", ENUM_BY_NAME, "A slice of a Cloud TPU v4 pod." },
	END_OF_VALUES,
};
const struct enum_type ml_accelerator_type = { "google.cloud.ml.v1.AcceleratorConfig.Type",
					       accelerator_type_values };

static const struct field accelerator_config_fields[] = {
	FIELD("count", INT64, 0, "How many on each machine of the role."),
	ENUM("type", ml_accelerator_type, 0, "Which kind."),
	END_OF_FIELDS,
};
static const struct message accelerator_config = { "google.cloud.ml.v1.AcceleratorConfig",
						   accelerator_config_fields,
						   "Accelerators of each replica of a role." };

static const struct field disk_config_fields[] = {
	FIELD("bootDiskType", STRING, 0, "pd-ssd (unless given) or pd-standard."),
	FIELD("bootDiskSizeGb", INT32, 0, "100 (unless given) to 64000."),
	END_OF_FIELDS,
};
static const struct message disk_config = { "google.cloud.ml.v1.DiskConfig", disk_config_fields,
					    "The boot disk of each replica of a role." };

static const struct field replica_config_fields[] = {
	MESSAGE("acceleratorConfig", accelerator_config, 0,
		"Accelerators, with Compute Engine machine types only."),
	FIELD("imageUri", STRING, 0, "The container image; other roles fall back to the master's."),
	FIELD("tpuTfVersion", STRING, 0, "TensorFlow version of a TPU worker beside a custom container."),
	FIELD("containerCommand", STRING, REPEATED, "Replaces the image's ENTRYPOINT."),
	FIELD("containerArgs", STRING, REPEATED, "Replaces the image's CMD."),
	MESSAGE("diskConfig", disk_config, 0, "The boot disk; without effect."),
	END_OF_FIELDS,
};
const struct message ml_replica_config = { "google.cloud.ml.v1.ReplicaConfig", replica_config_fields,
					   "What each replica of a role runs, and on what." };

static const struct field encryption_config_fields[] = {
	FIELD("kmsKeyName", STRING, 0, "projects/P/locations/R/keyRings/K/cryptoKeys/N"),
	END_OF_FIELDS,
};
static const struct message encryption_config = { "google.cloud.ml.v1.EncryptionConfig",
						  encryption_config_fields,
						  "The client's own key for what is stored." };

static const struct enum_value strategy_values[] = {
	{ "STRATEGY_UNSPECIFIED", 0, "The same as ON_DEMAND." },
	{ "ON_DEMAND", 1, "Machines that stay until the job ends." },
	{ "LOW_COST", 2, "Preemptible machines may be used." },
	END_OF_VALUES,
};
static const struct enum_type strategy = { "google.cloud.ml.v1.Scheduling.Strategy", strategy_values };

static const struct field scheduling_fields[] = {
	FIELD("maxRunningTime", DURATION, 0,
	      "How long the job may be RUNNING before it is cancelled; 7 days unless given."),
	FIELD("maxWaitTime", DURATION, 0,
	      "How long the job may take until it is RUNNING before it is cancelled; at least 1800s."),
	FIELD("priority", INT32, 0, "0 to 1000; higher goes first."),
	ENUM("strategy", strategy, 0, "Whether preemptible machines may be used; without effect."),
	FIELD("resilientToWorkerRestart", BOOL, 0,
	      "Restart the whole job when one worker had to be restarted."),
	END_OF_FIELDS,
};
static const struct message scheduling = { "google.cloud.ml.v1.Scheduling", scheduling_fields,
					   "Limits and order of the job." };

/* The order of the fields up to python_version, with master_config and worker_config, is known from inputs that
 * programs read back; the order of the other fields is a choice. */
static const struct field training_input_fields[] = {
	ENUM("scaleTier", ml_scale_tier, REQUIRED,
	     "The shape of the cluster; with CUSTOM the fields below describe it."),
	FIELD("masterType", STRING, 0, "The master's machine type; with CUSTOM only, and required then."),
	FIELD("workerType", STRING, 0, "The workers' machine type; goes with workerCount."),
	FIELD("parameterServerType", STRING, 0,
	      "The parameter servers' machine type; goes with parameterServerCount."),
	FIELD("workerCount", INT64, 0, "How many workers; with CUSTOM only."),
	FIELD("parameterServerCount", INT64, 0, "How many parameter servers; with CUSTOM only."),
	FIELD("packageUris", STRING, REPEATED,
	      "Python packages in Cloud Storage, at most 100, that are installed before pythonModule runs."),
	FIELD("pythonModule", STRING, 0, "The module to run after the packages were installed."),
	FIELD("args", STRING, REPEATED, "Command line arguments of every replica."),
	MESSAGE("hyperparameters", ml_hyperparameter_spec, 0, "What to tune: the job is a search by trials."),
	FIELD("region", STRING, REQUIRED, "Where to run."),
	FIELD("runtimeVersion", STRING, 0,
	      "The prepared runtime in which packages run, unless masterConfig.imageUri is given."),
	FIELD("jobDir", STRING, 0, "Cloud Storage directory of the output; programs get it as --job-dir."),
	FIELD("pythonVersion", STRING, 0, "The runtime's Python."),
	MESSAGE("masterConfig", ml_replica_config, 0, "The master."),
	MESSAGE("workerConfig", ml_replica_config, 0, "The workers."),
	MESSAGE("parameterServerConfig", ml_replica_config, 0, "The parameter servers."),
	MESSAGE("encryptionConfig", encryption_config, 0, "The key for what is stored; without effect."),
	FIELD("evaluatorType", STRING, 0, "The evaluators' machine type; goes with evaluatorCount."),
	FIELD("evaluatorCount", INT64, 0, "How many evaluators; with CUSTOM only."),
	MESSAGE("evaluatorConfig", ml_replica_config, 0, "The evaluators."),
	FIELD("useChiefInTfConfig", BOOL, 0, "TF_CONFIG calls the first replica chief instead of master."),
	MESSAGE("scheduling", scheduling, 0, "Limits and order of the job."),
	FIELD("network", STRING, 0,
	      "The VPC network to peer with, projects/NUMBER/global/networks/NAME; without effect."),
	FIELD("serviceAccount", STRING, 0,
	      "E-mail of an account; without effect on what the program may do."),
	FIELD("enableWebAccess", BOOL, 0, "Allow interactive shells in the containers."),
	MESSAGE("nasJobSpec", ml_nas_spec, 0, "Neural architecture search; known so that it can be refused."),
	END_OF_FIELDS,
};
const struct message ml_training_input = { "google.cloud.ml.v1.TrainingInput", training_input_fields,
					   "The input of a training job." };

static const struct enum_value data_format_values[] = {
	{ "DATA_FORMAT_UNSPECIFIED", 0, "Not specified." },
	{ "JSON", ENUM_BY_NAME, "A JSON value a line." },
	{ "TEXT", 1, "A plain text a line." },
	{ "TF_RECORD", 2, "A TFRecord file." },
	{ "TF_RECORD_GZIP", 3, "A TFRecord file packed with gzip." },
	{ "CSV", ENUM_BY_NAME, "Comma-separated values." },
	END_OF_VALUES,
};
static const struct enum_type data_format = { "google.cloud.ml.v1.PredictionInput.DataFormat",
					      data_format_values };

static const struct field prediction_input_fields[] = {
	FIELD("modelName", STRING, 0, "The model, in its default version."),
	FIELD("versionName", STRING, 0, "A version of a model."),
	FIELD("uri", STRING, 0, "A saved model in Cloud Storage."),
	ENUM("dataFormat", data_format, REQUIRED, "The form of the input."),
	ENUM("outputDataFormat", data_format, 0, "The form of the output."),
	FIELD("inputPaths", STRING, REPEATED | REQUIRED, "The files to read."),
	FIELD("outputPath", STRING, REQUIRED, "Where to write."),
	FIELD("maxWorkerCount", INT64, 0, "How many workers at most."),
	FIELD("region", STRING, REQUIRED, "Where to run."),
	FIELD("runtimeVersion", STRING, 0, "The prepared runtime."),
	FIELD("batchSize", INT64, 0, "Records in one batch."),
	FIELD("signatureName", STRING, 0, "The signature of the saved model."),
	MESSAGE("accelerator", accelerator_config, 0, "Accelerators of the workers."),
	FIELD("framework", STRING, 0, "The framework of the saved model."),
	END_OF_FIELDS,
};
const struct message ml_prediction_input = { "google.cloud.ml.v1.PredictionInput", prediction_input_fields,
					     "The input of a batch prediction." };

/* Only gcloud's schema has this message. trainyard accepts and ignores it. */
static const struct field explanation_input_fields[] = {
	FIELD("modelName", STRING, 0, "The model, in its default version."),
	FIELD("versionName", STRING, 0, "A version of a model."),
	ENUM("dataFormat", data_format, 0, "The form of the input."),
	ENUM("outputDataFormat", data_format, 0, "The form of the output."),
	FIELD("inputPaths", STRING, REPEATED, "The files to read."),
	FIELD("outputPath", STRING, 0, "Where to write."),
	FIELD("maxWorkerCount", INT64, 0, "How many workers at most."),
	FIELD("region", STRING, 0, "Where to run."),
	FIELD("batchSize", INT64, 0, "Records in one batch."),
	FIELD("signatureName", STRING, 0, "The signature of the saved model."),
	END_OF_FIELDS,
};
const struct message ml_explanation_input = { "google.cloud.ml.v1.ExplanationInput", explanation_input_fields,
					      "The input of a batch explanation." };
