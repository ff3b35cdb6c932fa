/* SPDX-License-Identifier: Apache-2.0 */
/* Output-only messages. They are also accepted in requests, because a client may post a job that it has read before. */
#include "api/ml/field_rows.h"
#include "api/ml/messages.h"

static const struct field built_in_output_fields[] = {
	FIELD("framework", STRING, 0, "The framework of the model, such as TENSORFLOW."),
	FIELD("runtimeVersion", STRING, 0, "The runtime that can serve the model."),
	FIELD("pythonVersion", STRING, 0, "That runtime's Python."),
	FIELD("modelPath", STRING, 0, "Where the model was written."),
	END_OF_FIELDS,
};
static const struct message built_in_output = { "google.cloud.ml.v1.BuiltInAlgorithmOutput",
						built_in_output_fields,
						"The result of a built-in algorithm." };

static const struct field metric_fields[] = {
	FIELD("trainingStep", INT64, 0, "The step it was measured at."),
	FIELD("objectiveValue", DOUBLE, 0, "The value."),
	END_OF_FIELDS,
};
static const struct message metric = { "google.cloud.ml.v1.HyperparameterOutput.HyperparameterMetric",
				       metric_fields, "One measured value of the metric." };

static const struct field trial_fields[] = {
	FIELD("trialId", STRING, 0, "The trial's number, from 1."),
	FIELD("hyperparameters", STRING, MAP, "The values it ran with."),
	MESSAGE("finalMetric", metric, 0, "The last measurement."),
	FIELD("isTrialStoppedEarly", BOOL, 0, "Whether it was stopped because it could not win."),
	MESSAGE("allMetrics", metric, REPEATED, "Not filled."),
	MESSAGE("builtInAlgorithmOutput", built_in_output, 0, "The trial's built-in algorithm."),
	FIELD("startTime", TIMESTAMP, 0, "When the trial began."),
	FIELD("endTime", TIMESTAMP, 0, "When the trial was over."),
	ENUM("state", ml_job_state, 0, "Where the trial is in its life."),
	FIELD("webAccessUris", STRING, MAP, "Interactive shells by node."),
	END_OF_FIELDS,
};
const struct message ml_trial = { "google.cloud.ml.v1.HyperparameterOutput", trial_fields, "One trial." };

static const struct field training_output_fields[] = {
	FIELD("completedTrialCount", INT64, 0, "Trials that ended well."),
	MESSAGE("trials", ml_trial, REPEATED, "The trials; the best first when the job is over."),
	FIELD("consumedMLUnits", DOUBLE, 0, "What the cloud would bill."),
	FIELD("isHyperparameterTuningJob", BOOL, 0, "Whether the job tunes."),
	FIELD("isBuiltInAlgorithmJob", BOOL, 0, "Whether the image is a built-in algorithm's."),
	MESSAGE("builtInAlgorithmOutput", built_in_output, 0, "The result of the built-in algorithm."),
	FIELD("hyperparameterMetricTag", STRING, 0, "The metric that was optimized."),
	FIELD("webAccessUris", STRING, MAP, "Interactive shells by node."),
	FIELD("nasJobOutput", STRUCT, 0, "The result of a neural architecture search."),
	END_OF_FIELDS,
};
const struct message ml_training_output = { "google.cloud.ml.v1.TrainingOutput", training_output_fields,
					    "What a training job has given so far." };

static const struct field prediction_output_fields[] = {
	FIELD("outputPath", STRING, 0, "Where the predictions are."),
	FIELD("predictionCount", INT64, 0, "How many there are."),
	FIELD("errorCount", INT64, 0, "How many inputs failed."),
	FIELD("nodeHours", DOUBLE, 0, "Machine time used."),
	END_OF_FIELDS,
};
const struct message ml_prediction_output = { "google.cloud.ml.v1.PredictionOutput", prediction_output_fields,
					      "What a batch prediction has given so far." };

static const struct field explanation_output_fields[] = {
	FIELD("outputPath", STRING, 0, "Where the explanations are."),
	FIELD("explanationCount", INT64, 0, "How many there are."),
	FIELD("errorCount", INT64, 0, "How many inputs failed."),
	FIELD("nodeHours", DOUBLE, 0, "Machine time used."),
	END_OF_FIELDS,
};
const struct message ml_explanation_output = { "google.cloud.ml.v1.ExplanationOutput",
					       explanation_output_fields,
					       "What a batch explanation has given so far." };
