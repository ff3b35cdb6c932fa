/* SPDX-License-Identifier: Apache-2.0 */
/* TrainingPipeline and its input data. */
#include "api/aiplatform/field_rows.h"
#include "api/aiplatform/messages.h"

#define OF(NAME) "google.cloud.aiplatform.v1." NAME

static const struct enum_value pipeline_state_values[] = {
	{ "PIPELINE_STATE_UNSPECIFIED", 0, "Not specified." },
	{ "PIPELINE_STATE_QUEUED", 1, "Accepted; waits for others to end." },
	{ "PIPELINE_STATE_PENDING", 2, "Its job is being started." },
	{ "PIPELINE_STATE_RUNNING", 3, "Its job runs, or its model is being uploaded." },
	{ "PIPELINE_STATE_SUCCEEDED", 4, "Its job ended well, and its model is there." },
	{ "PIPELINE_STATE_FAILED", 5, "Its job or the upload failed; error says why." },
	{ "PIPELINE_STATE_CANCELLING", 6, "Told to end." },
	{ "PIPELINE_STATE_CANCELLED", 7, "Ended because it was told to." },
	{ "PIPELINE_STATE_PAUSED", 8, "Never the state of a pipeline of custom training." },
	END_OF_VALUES,
};
const struct enum_type aiplatform_pipeline_state = { OF("PipelineState"), pipeline_state_values };

/* Rows that three kinds of splits have in common; each kind adds the row of its key. */
#define FRACTION_ROWS                                                                                        \
	FIELD(1, "trainingFraction", DOUBLE, 0, "Share of the data to train with."),                         \
		FIELD(2, "validationFraction", DOUBLE, 0, "Share of the data to validate with."),            \
		FIELD(3, "testFraction", DOUBLE, 0, "Share of the data to test with.")

static const struct field fraction_split_fields[] = { FRACTION_ROWS, END_OF_FIELDS };
static const struct message fraction_split = { OF("FractionSplit"), fraction_split_fields, "By chance." };

static const struct field filter_split_fields[] = {
	FIELD(1, "trainingFilter", STRING, REQUIRED, "Which data to train with."),
	FIELD(2, "validationFilter", STRING, REQUIRED, "Which data to validate with."),
	FIELD(3, "testFilter", STRING, REQUIRED, "Which data to test with."),
	END_OF_FIELDS,
};
static const struct message filter_split = { OF("FilterSplit"), filter_split_fields, "By filters." };

static const struct field predefined_split_fields[] = {
	FIELD(1, "key", STRING, REQUIRED, "The column that says training, validation or test."),
	END_OF_FIELDS,
};
static const struct message predefined_split = { OF("PredefinedSplit"), predefined_split_fields,
						 "As a column says." };

static const struct field timestamp_split_fields[] = {
	FRACTION_ROWS,
	FIELD(4, "key", STRING, REQUIRED, "The column that holds times."),
	END_OF_FIELDS,
};
static const struct message timestamp_split = { OF("TimestampSplit"), timestamp_split_fields, "By time." };

static const struct field stratified_split_fields[] = {
	FRACTION_ROWS,
	FIELD(4, "key", STRING, REQUIRED, "The column to distribute evenly over the splits."),
	END_OF_FIELDS,
};
static const struct message stratified_split = { OF("StratifiedSplit"), stratified_split_fields,
						 "Evenly over a column's values." };

static const struct field bigquery_destination_fields[] = {
	FIELD(1, "outputUri", STRING, REQUIRED, "bq://PROJECT and what is below it."),
	END_OF_FIELDS,
};
static const struct message bigquery_destination = { OF("BigQueryDestination"), bigquery_destination_fields,
						     "A place in BigQuery." };

static const struct field input_data_config_fields[] = {
	FIELD(1, "datasetId", STRING, REQUIRED, "The data set."),
	CHOICE("split", 2, "fractionSplit", fraction_split, 0, "Its data are split by chance, or"),
	CHOICE("split", 3, "filterSplit", filter_split, 0, "by filters, or"),
	CHOICE("split", 4, "predefinedSplit", predefined_split, 0, "as a column says, or"),
	CHOICE("split", 5, "timestampSplit", timestamp_split, 0, "by time, or"),
	FIELD(6, "annotationsFilter", STRING, 0, "Which annotations to use."),
	FIELD(7, "savedQueryId", STRING, 0, "A query of the data set's."),
	CHOICE("destination", 8, "gcsDestination", aiplatform_gcs_destination, 0,
	       "Where the data are written to, or"),
	FIELD(9, "annotationSchemaUri", STRING, 0, "Of which kind the annotations are."),
	CHOICE("destination", 10, "bigqueryDestination", bigquery_destination, 0, "in BigQuery."),
	FIELD(11, "persistMlUseAssignment", BOOL, 0,
	      "Store which data are used for training, validation and test."),
	CHOICE("split", 12, "stratifiedSplit", stratified_split, 0, "evenly over a column's values."),
	END_OF_FIELDS,
};
static const struct message input_data_config = { OF("InputDataConfig"), input_data_config_fields,
						  "A managed data set; known so that it can be refused." };

static const struct field training_pipeline_fields[] = {
	FIELD(1, "name", STRING, OUT, "projects/NUMBER/locations/L/trainingPipelines/ID"),
	FIELD(2, "displayName", STRING, REQUIRED, "The client's name for it, of at most 128 characters."),
	MESSAGE(3, "inputDataConfig", input_data_config, 0, "A managed data set to train with."),
	FIELD(4, "trainingTaskDefinition", STRING, REQUIRED,
	      "Which task to run: the gs:// name of custom_task_1.0.0.yaml or "
	      "hyperparameter_tuning_task_1.0.0.yaml."),
	FIELD(5, "trainingTaskInputs", VALUE, REQUIRED,
	      "What the task takes: a CustomJobSpec, or what is tuned."),
	FIELD(6, "trainingTaskMetadata", VALUE, OUT, "What the task tells: the name of its job."),
	MESSAGE(7, "modelToUpload", aiplatform_model, 0, "The model to make of what was trained."),
	ENUM(9, "state", aiplatform_pipeline_state, OUT, "Where the pipeline is in its life."),
	MESSAGE(10, "error", aiplatform_status, OUT, "Why the pipeline failed or was cancelled."),
	FIELD(11, "createTime", TIMESTAMP, OUT, "When the pipeline was accepted."),
	FIELD(12, "startTime", TIMESTAMP, OUT, "When it ran for the first time."),
	FIELD(13, "endTime", TIMESTAMP, OUT, "When it was over."),
	FIELD(14, "updateTime", TIMESTAMP, OUT, "When it was changed last."),
	FIELD(15, "labels", STRING, MAP, "The client's own marks on it."),
	MESSAGE(18, "encryptionSpec", aiplatform_encryption_spec, 0,
		"The key for what is stored; without effect."),
	FIELD(21, "parentModel", STRING, 0, "The model is uploaded as a new version of this one."),
	FIELD(22, "modelId", STRING, 0, "The id of the uploaded model, if not the service's choice."),
	END_OF_FIELDS,
};
const struct message aiplatform_training_pipeline = { OF("TrainingPipeline"), training_pipeline_fields,
						      "A job, and the model that it trains." };

static const struct field training_pipeline_list_response_fields[] = {
	MESSAGE(1, "trainingPipelines", aiplatform_training_pipeline, REPEATED,
		"The pipelines, newest first."),
	FIELD(2, "nextPageToken", STRING, 0, "Asks for the next page; absent on the last."),
	END_OF_FIELDS,
};
const struct message aiplatform_training_pipeline_list_response = { OF("ListTrainingPipelinesResponse"),
								    training_pipeline_list_response_fields,
								    "A page of pipelines." };
