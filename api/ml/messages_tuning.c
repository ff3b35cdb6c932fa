/* SPDX-License-Identifier: Apache-2.0 */
/* HyperparameterSpec and NasSpec. */
#include "api/ml/field_rows.h"
#include "api/ml/messages.h"

static const struct enum_value goal_values[] = {
	{ "GOAL_TYPE_UNSPECIFIED", 0, "The same as MAXIMIZE." },
	{ "MAXIMIZE", 1, "The larger the better." },
	{ "MINIMIZE", 2, "The smaller the better." },
	END_OF_VALUES,
};
static const struct enum_type goal = { "google.cloud.ml.v1.HyperparameterSpec.GoalType", goal_values };

static const struct enum_value algorithm_values[] = {
	{ "ALGORITHM_UNSPECIFIED", 0, "Bayesian optimization." },
	{ "GRID_SEARCH", ENUM_BY_NAME, "Every combination in turn." },
	{ "RANDOM_SEARCH", ENUM_BY_NAME, "Combinations drawn at random." },
	{ "POPULATION_BASED_TRAINING", ENUM_BY_NAME,
	  "Trials that learn from each other while they run; known so that it can be refused." },
	END_OF_VALUES,
};
static const struct enum_type algorithm = { "google.cloud.ml.v1.HyperparameterSpec.Algorithm",
					    algorithm_values };

static const struct enum_value parameter_type_values[] = {
	{ "PARAMETER_TYPE_UNSPECIFIED", 0, "Refused: a type has to be given." },
	{ "DOUBLE", 1, "A real number from minValue to maxValue." },
	{ "INTEGER", 2, "A whole number from minValue to maxValue." },
	{ "CATEGORICAL", 3, "One of categoricalValues." },
	{ "DISCRETE", 4, "One of discreteValues." },
	END_OF_VALUES,
};
static const struct enum_type parameter_type = { "google.cloud.ml.v1.ParameterSpec.ParameterType",
						 parameter_type_values };

static const struct enum_value scale_type_values[] = {
	{ "NONE", 0, "As UNIT_LINEAR_SCALE." },
	{ "UNIT_LINEAR_SCALE", 1, "Evenly over the range." },
	{ "UNIT_LOG_SCALE", 2, "Evenly over the logarithm of the range: small values more closely." },
	{ "UNIT_REVERSE_LOG_SCALE", 3, "The logarithm from the upper end: large values more closely." },
	END_OF_VALUES,
};
static const struct enum_type scale_type = { "google.cloud.ml.v1.ParameterSpec.ScaleType",
					     scale_type_values };

static const struct field parameter_spec_fields[] = {
	FIELD("parameterName", STRING, REQUIRED, "Unique in the spec; programs get it as --NAME=VALUE."),
	ENUM("type", parameter_type, REQUIRED, "What its values are."),
	FIELD("minValue", DOUBLE, 0, "Least value, of DOUBLE and INTEGER."),
	FIELD("maxValue", DOUBLE, 0, "Greatest value, of DOUBLE and INTEGER."),
	FIELD("categoricalValues", STRING, REPEATED, "The values, of CATEGORICAL."),
	FIELD("discreteValues", DOUBLE, REPEATED, "The values in rising order, of DISCRETE."),
	ENUM("scaleType", scale_type, 0, "How the range is searched."),
	END_OF_FIELDS,
};
static const struct message parameter_spec = { "google.cloud.ml.v1.ParameterSpec", parameter_spec_fields,
					       "One parameter to tune." };

static const struct field hyperparameter_spec_fields[] = {
	ENUM("goal", goal, REQUIRED, "Whether the metric should be large or small."),
	MESSAGE("params", parameter_spec, REPEATED | REQUIRED, "The parameters."),
	FIELD("maxTrials", INT32, 0, "How many trials; 1 unless given."),
	FIELD("maxParallelTrials", INT32, 0, "How many of them at once; 1 unless given."),
	FIELD("maxFailedTrials", INT32, 0,
	      "The job fails when this number of trials have failed; 0: the service decides."),
	FIELD("hyperparameterMetricTag", STRING, 0,
	      "The metric to optimize; training/hptuning/metric unless given."),
	FIELD("resumePreviousJobId", STRING, 0, "An earlier tuning job; its trials are learned from."),
	FIELD("enableTrialEarlyStopping", BOOL, 0, "Stop trials that cannot win."),
	ENUM("algorithm", algorithm, 0, "How parameters are chosen; Bayesian unless given."),
	END_OF_FIELDS,
};
const struct message ml_hyperparameter_spec = { "google.cloud.ml.v1.HyperparameterSpec",
						hyperparameter_spec_fields, "What to tune." };

static const struct field nas_spec_fields[] = {
	FIELD("multiTrialAlgorithmSpec", STRUCT, 0, "The search by many trials."),
	FIELD("oneShotAlgorithmSpec", STRUCT, 0, "The search in one trial."),
	FIELD("previousNasJobId", STRING, 0, "An earlier search to go on from."),
	FIELD("searchSpaceSpec", VALUE, 0, "What is searched."),
	END_OF_FIELDS,
};
const struct message ml_nas_spec = { "google.cloud.ml.v1.NasSpec", nas_spec_fields,
				     "A neural architecture search." };
