/* SPDX-License-Identifier: Apache-2.0 */
/* Model. */
#include "api/aiplatform/field_rows.h"
#include "api/aiplatform/messages.h"

#define OF(NAME) "google.cloud.aiplatform.v1." NAME

static const struct field exec_fields[] = {
	FIELD(1, "command", STRING, REPEATED, "The command; the container is well if it exits with 0."),
	END_OF_FIELDS,
};
static const struct message exec_action = { OF("Probe.ExecAction"), exec_fields, "A command to run." };

static const struct field http_header_fields[] = {
	FIELD(1, "name", STRING, 0, "The header's name."),
	FIELD(2, "value", STRING, 0, "Its value."),
	END_OF_FIELDS,
};
static const struct message http_header = { OF("Probe.HttpHeader"), http_header_fields, "A header." };

static const struct field http_get_fields[] = {
	FIELD(1, "path", STRING, 0, "The path to ask for."),
	FIELD(2, "port", INT32, 0, "The port."),
	FIELD(3, "host", STRING, 0, "The host."),
	FIELD(4, "scheme", STRING, 0, "HTTP or HTTPS."),
	MESSAGE(5, "httpHeaders", http_header, REPEATED, "Headers of the request."),
	END_OF_FIELDS,
};
static const struct message http_get_action = { OF("Probe.HttpGetAction"), http_get_fields,
						"A request to make." };

static const struct field grpc_fields[] = {
	FIELD(1, "port", INT32, 0, "The port."),
	FIELD(2, "service", STRING, 0, "The service to ask about."),
	END_OF_FIELDS,
};
static const struct message grpc_action = { OF("Probe.GrpcAction"), grpc_fields, "A call to make." };

static const struct field tcp_socket_fields[] = {
	FIELD(1, "port", INT32, 0, "The port."),
	FIELD(2, "host", STRING, 0, "The host."),
	END_OF_FIELDS,
};
static const struct message tcp_socket_action = { OF("Probe.TcpSocketAction"), tcp_socket_fields,
						  "A connection to make." };

static const struct field probe_fields[] = {
	CHOICE("probe_type", 1, "exec", exec_action, 0, "A command, or"),
	FIELD(2, "periodSeconds", INT32, 0, "How often."),
	FIELD(3, "timeoutSeconds", INT32, 0, "How long to wait."),
	CHOICE("probe_type", 4, "httpGet", http_get_action, 0, "a request, or"),
	CHOICE("probe_type", 5, "grpc", grpc_action, 0, "a call, or"),
	CHOICE("probe_type", 6, "tcpSocket", tcp_socket_action, 0, "a connection."),
	FIELD(7, "failureThreshold", INT32, 0, "After how many failures the container is not well."),
	FIELD(8, "successThreshold", INT32, 0, "After how many successes the container is well again."),
	FIELD(9, "initialDelaySeconds", INT32, 0, "How long to wait first."),
	END_OF_FIELDS,
};
static const struct message probe = { OF("Probe"), probe_fields, "How a container's health is checked." };

static const struct field port_fields[] = {
	FIELD(3, "containerPort", INT32, 0, "From 1 to 65535."),
	END_OF_FIELDS,
};
static const struct message port = { OF("Port"), port_fields, "A port of the container." };

static const struct field model_container_spec_fields[] = {
	FIELD(1, "imageUri", STRING, REQUIRED | IMMUTABLE, "The image that serves the model."),
	FIELD(2, "command", STRING, REPEATED | IMMUTABLE, "Replaces the image's ENTRYPOINT."),
	FIELD(3, "args", STRING, REPEATED | IMMUTABLE, "Replaces the image's CMD."),
	MESSAGE(4, "env", aiplatform_env_var, REPEATED | IMMUTABLE, "More environment."),
	MESSAGE(5, "ports", port, REPEATED | IMMUTABLE, "Its ports; predictions go to the first."),
	FIELD(6, "predictRoute", STRING, IMMUTABLE, "The path of predictions."),
	FIELD(7, "healthRoute", STRING, IMMUTABLE, "The path of health checks."),
	MESSAGE(9, "grpcPorts", port, REPEATED | IMMUTABLE, "Its ports for gRPC."),
	FIELD(10, "deploymentTimeout", DURATION, IMMUTABLE, "How long a deployment may take."),
	FIELD(11, "sharedMemorySizeMb", INT64, IMMUTABLE, "How much shared memory it has."),
	MESSAGE(12, "startupProbe", probe, IMMUTABLE, "Whether it has started."),
	MESSAGE(13, "healthProbe", probe, IMMUTABLE, "Whether it is ready."),
	MESSAGE(14, "livenessProbe", probe, IMMUTABLE, "Whether it lives."),
	FIELD(15, "invokeRoutePrefix", STRING, IMMUTABLE, "What paths of other calls begin with."),
	END_OF_FIELDS,
};
static const struct message model_container_spec = { OF("ModelContainerSpec"), model_container_spec_fields,
						     "The container that serves a model." };

static const struct field predict_schemata_fields[] = {
	FIELD(1, "instanceSchemaUri", STRING, IMMUTABLE, "The schema of an instance."),
	FIELD(2, "parametersSchemaUri", STRING, IMMUTABLE, "The schema of the parameters."),
	FIELD(3, "predictionSchemaUri", STRING, IMMUTABLE, "The schema of a prediction."),
	END_OF_FIELDS,
};
static const struct message predict_schemata = { OF("PredictSchemata"), predict_schemata_fields,
						 "What predictions take and give." };

static const struct enum_value source_type_values[] = {
	{ "MODEL_SOURCE_TYPE_UNSPECIFIED", 0, "Not specified." },
	{ "AUTOML", 1, "Trained by AutoML." },
	{ "CUSTOM", 2, "Uploaded, or trained by custom training." },
	{ "BQML", 3, "Trained in BigQuery." },
	{ "MODEL_GARDEN", 4, "From Model Garden." },
	{ "GENIE", 5, "Tuned by the service." },
	{ "CUSTOM_TEXT_EMBEDDING", 6, "Tuned for embeddings of texts." },
	{ "MARKETPLACE", 7, "From the marketplace." },
	END_OF_VALUES,
};
static const struct enum_type source_type = { OF("ModelSourceInfo.ModelSourceType"), source_type_values };

static const struct field source_info_fields[] = {
	ENUM(1, "sourceType", source_type, 0, "How it came to be."),
	FIELD(2, "copy", BOOL, 0, "Whether it is a copy."),
	END_OF_FIELDS,
};
static const struct message source_info = { OF("ModelSourceInfo"), source_info_fields,
					    "How a model came to be." };

/* explanationSpec is stored and returned unchecked: its message is large, and trainyard explains no models. */
static const struct field model_fields[] = {
	FIELD(1, "name", STRING, 0, "projects/NUMBER/locations/L/models/ID"),
	FIELD(2, "displayName", STRING, REQUIRED, "The client's name for it, of at most 128 characters."),
	FIELD(3, "description", STRING, 0, "What it is."),
	MESSAGE(4, "predictSchemata", predict_schemata, 0, "What predictions take and give."),
	FIELD(5, "metadataSchemaUri", STRING, IMMUTABLE, "The schema of metadata."),
	FIELD(6, "metadata", VALUE, IMMUTABLE, "More about it."),
	FIELD(7, "trainingPipeline", STRING, OUT, "The pipeline that uploaded it."),
	MESSAGE(9, "containerSpec", model_container_spec, 0, "The container that serves it."),
	FIELD(13, "createTime", TIMESTAMP, OUT, "When it was uploaded."),
	FIELD(14, "updateTime", TIMESTAMP, OUT, "When it was changed last."),
	FIELD(16, "etag", STRING, 0, "Changes with every change of it."),
	FIELD(17, "labels", STRING, MAP, "The client's own marks on it."),
	FIELD(23, "explanationSpec", STRUCT, 0, "How predictions are explained."),
	MESSAGE(24, "encryptionSpec", aiplatform_encryption_spec, 0,
		"The key for what is stored; without effect."),
	FIELD(26, "artifactUri", STRING, IMMUTABLE, "Where its files are."),
	FIELD(28, "versionId", STRING, OUT | IMMUTABLE, "The number of its version, from 1."),
	FIELD(29, "versionAliases", STRING, REPEATED, "Other names of its version, such as default."),
	FIELD(30, "versionDescription", STRING, 0, "What its version is."),
	FIELD(31, "versionCreateTime", TIMESTAMP, OUT, "When its version was uploaded."),
	FIELD(32, "versionUpdateTime", TIMESTAMP, OUT, "When its version was changed last."),
	MESSAGE(38, "modelSourceInfo", source_info, OUT, "How it came to be."),
	FIELD(44, "metadataArtifact", STRING, OUT, "Its artifact among the metadata."),
	FIELD(47, "pipelineJob", STRING, 0, "The pipeline job that made it."),
	FIELD(51, "satisfiesPzs", BOOL, OUT, "Reserved."),
	FIELD(52, "satisfiesPzi", BOOL, OUT, "Reserved."),
	FIELD(53, "defaultCheckpointId", STRING, 0, "The checkpoint that is deployed."),
	END_OF_FIELDS,
};
static const char *const model_unset[] = { "baseModelSource",
					   "checkpoints",
					   "dataStats",
					   "deployedModels",
					   "originalModelInfo",
					   "supportedDeploymentResourcesTypes",
					   "supportedExportFormats",
					   "supportedInputStorageFormats",
					   "supportedOutputStorageFormats",
					   NULL };
const struct message aiplatform_model = { OF("Model"), model_fields, "A trained model.", model_unset };

static const struct field list_request_fields[] = {
	FIELD(2, "filter", STRING, 0,
	      "Which ones: terms such as display_name=\"m\" AND labels.env=dev. Empty: all."),
	FIELD(3, "pageSize", INT32, 0, "How many at most."),
	FIELD(4, "pageToken", STRING, 0, "The nextPageToken of the previous page."),
	FIELD(5, "readMask", MASK, 0, "Which fields to show; all unless given."),
	FIELD(6, "orderBy", STRING, 0, "In which order; without effect: the newest come first."),
	END_OF_FIELDS,
};
const struct message aiplatform_model_list_request = { OF("ListModelsRequest"), list_request_fields,
						       "Which page of which models." };

static const struct field list_response_fields[] = {
	MESSAGE(1, "models", aiplatform_model, REPEATED, "The models, newest first."),
	FIELD(2, "nextPageToken", STRING, 0, "Asks for the next page; absent on the last."),
	END_OF_FIELDS,
};
const struct message aiplatform_model_list_response = { OF("ListModelsResponse"), list_response_fields,
							"A page of models." };

static const struct field versions_request_fields[] = {
	FIELD(2, "pageToken", STRING, 0, "The nextPageToken of the previous page."),
	FIELD(3, "pageSize", INT32, 0, "How many at most."),
	FIELD(4, "filter", STRING, 0, "Which ones, as in a list of models. Empty: all."),
	FIELD(5, "readMask", MASK, 0, "Which fields to show; all unless given."),
	FIELD(6, "orderBy", STRING, 0, "In which order; without effect: the newest come first."),
	END_OF_FIELDS,
};
const struct message aiplatform_model_versions_request = { OF("ListModelVersionsRequest"),
							   versions_request_fields,
							   "Which page of which versions." };
const struct message aiplatform_model_versions_response = { OF("ListModelVersionsResponse"),
							    list_response_fields, "A page of versions." };
