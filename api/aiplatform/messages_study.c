/* SPDX-License-Identifier: Apache-2.0 */
/* The message StudySpec and the messages in it. */
#include "api/aiplatform/field_rows.h"
#include "api/aiplatform/messages.h"

#define OF(NAME) "google.cloud.aiplatform.v1." NAME

static const struct enum_value goal_values[] = {
	{ "GOAL_TYPE_UNSPECIFIED", 0, "The same as MAXIMIZE." },
	{ "MAXIMIZE", 1, "The larger the better." },
	{ "MINIMIZE", 2, "The smaller the better." },
	END_OF_VALUES,
};
static const struct enum_type goal = { OF("StudySpec.MetricSpec.GoalType"), goal_values };

static const struct field safety_config_fields[] = {
	FIELD(1, "safetyThreshold", DOUBLE, 0, "Which value of the metric is safe still."),
	FIELD(2, "desiredMinSafeTrialsFraction", DOUBLE, PRESENCE, "How many of the trials should be safe."),
	END_OF_FIELDS,
};
static const struct message safety_config = { OF("StudySpec.MetricSpec.SafetyMetricConfig"),
					      safety_config_fields,
					      "A metric to keep safe; known so that it can be refused." };

static const struct field metric_spec_fields[] = {
	FIELD(1, "metricId", STRING, REQUIRED, "The metric's name, as programs report it; unique."),
	ENUM(2, "goal", goal, REQUIRED, "Whether it should be large or small."),
	MESSAGE(3, "safetyConfig", safety_config, 0,
		"A metric to keep safe; known so that it can be refused."),
	END_OF_FIELDS,
};
static const struct message metric_spec = { OF("StudySpec.MetricSpec"), metric_spec_fields,
					    "What to optimize." };

static const struct field double_value_spec_fields[] = {
	FIELD(1, "minValue", DOUBLE, REQUIRED, "Least value."),
	FIELD(2, "maxValue", DOUBLE, REQUIRED, "Greatest value."),
	FIELD(4, "defaultValue", DOUBLE, PRESENCE, "A good value to begin with; kept, and not used."),
	END_OF_FIELDS,
};
static const struct message double_value_spec = { OF("StudySpec.ParameterSpec.DoubleValueSpec"),
						  double_value_spec_fields,
						  "Any number from a range of them." };

static const struct field integer_value_spec_fields[] = {
	FIELD(1, "minValue", INT64, REQUIRED, "Least value."),
	FIELD(2, "maxValue", INT64, REQUIRED, "Greatest value."),
	FIELD(4, "defaultValue", INT64, PRESENCE, "A good value to begin with; kept, and not used."),
	END_OF_FIELDS,
};
static const struct message integer_value_spec = { OF("StudySpec.ParameterSpec.IntegerValueSpec"),
						   integer_value_spec_fields,
						   "Any whole number from a range of them." };

static const struct field categorical_value_spec_fields[] = {
	FIELD(1, "values", STRING, REPEATED | REQUIRED, "The values."),
	FIELD(3, "defaultValue", STRING, PRESENCE, "A good value to begin with; kept, and not used."),
	END_OF_FIELDS,
};
static const struct message categorical_value_spec = { OF("StudySpec.ParameterSpec.CategoricalValueSpec"),
						       categorical_value_spec_fields, "One of some texts." };

static const struct field discrete_value_spec_fields[] = {
	FIELD(1, "values", DOUBLE, REPEATED | REQUIRED, "The values in rising order, at most 1000."),
	FIELD(3, "defaultValue", DOUBLE, PRESENCE, "A good value to begin with; kept, and not used."),
	END_OF_FIELDS,
};
static const struct message discrete_value_spec = { OF("StudySpec.ParameterSpec.DiscreteValueSpec"),
						    discrete_value_spec_fields, "One of some numbers." };

#define CONDITION(NAME) OF("StudySpec.ParameterSpec.ConditionalParameterSpec." NAME)

static const struct field discrete_condition_fields[] = {
	FIELD(1, "values", DOUBLE, REPEATED | REQUIRED, "Values that the parent has."),
	END_OF_FIELDS,
};
static const struct message discrete_condition = { CONDITION("DiscreteValueCondition"),
						   discrete_condition_fields,
						   "Values of a discrete parent." };

static const struct field int_condition_fields[] = {
	FIELD(1, "values", INT64, REPEATED | REQUIRED, "Values that the parent can have."),
	END_OF_FIELDS,
};
static const struct message int_condition = { CONDITION("IntValueCondition"), int_condition_fields,
					      "Values of an integer parent." };

static const struct field categorical_condition_fields[] = {
	FIELD(1, "values", STRING, REPEATED | REQUIRED, "Values that the parent has."),
	END_OF_FIELDS,
};
static const struct message categorical_condition = { CONDITION("CategoricalValueCondition"),
						      categorical_condition_fields,
						      "Values of a categorical parent." };

static const struct message parameter_spec;

static const struct field conditional_parameter_spec_fields[] = {
	MESSAGE(1, "parameterSpec", parameter_spec, REQUIRED, "The parameter."),
	CHOICE("parent_value_condition", 2, "parentDiscreteValues", discrete_condition, 0,
	       "It is there while its parent has one of these, or"),
	CHOICE("parent_value_condition", 3, "parentIntValues", int_condition, 0, "one of these, or"),
	CHOICE("parent_value_condition", 4, "parentCategoricalValues", categorical_condition, 0,
	       "one of these."),
	END_OF_FIELDS,
};
static const struct message conditional_parameter_spec = {
	OF("StudySpec.ParameterSpec.ConditionalParameterSpec"), conditional_parameter_spec_fields,
	"A parameter that is there for some values of another."
};

static const struct enum_value scale_type_values[] = {
	{ "SCALE_TYPE_UNSPECIFIED", 0, "As UNIT_LINEAR_SCALE." },
	{ "UNIT_LINEAR_SCALE", 1, "Evenly over the range." },
	{ "UNIT_LOG_SCALE", 2, "Evenly over the logarithm of the range: small values more closely." },
	{ "UNIT_REVERSE_LOG_SCALE", 3, "The logarithm from the upper end: large values more closely." },
	END_OF_VALUES,
};
static const struct enum_type scale_type = { OF("StudySpec.ParameterSpec.ScaleType"), scale_type_values };

static const struct field parameter_spec_fields[] = {
	FIELD(1, "parameterId", STRING, REQUIRED, "Its name; programs get it as --NAME=VALUE."),
	CHOICE("parameter_value_spec", 2, "doubleValueSpec", double_value_spec, 0, "Any number, or"),
	CHOICE("parameter_value_spec", 3, "integerValueSpec", integer_value_spec, 0, "a whole number, or"),
	CHOICE("parameter_value_spec", 4, "categoricalValueSpec", categorical_value_spec, 0,
	       "one of some texts, or"),
	CHOICE("parameter_value_spec", 5, "discreteValueSpec", discrete_value_spec, 0,
	       "one of some numbers."),
	ENUM(6, "scaleType", scale_type, 0, "How the range is searched."),
	MESSAGE(10, "conditionalParameterSpecs", conditional_parameter_spec, REPEATED,
		"Parameters that are there for some of its values only."),
	END_OF_FIELDS,
};
static const struct message parameter_spec = { OF("StudySpec.ParameterSpec"), parameter_spec_fields,
					       "One parameter to tune." };

static const struct field decay_curve_fields[] = {
	FIELD(1, "useElapsedDuration", BOOL, 0, "Goes by elapsed time, not by steps."),
	END_OF_FIELDS,
};
static const struct message decay_curve = { OF("StudySpec.DecayCurveAutomatedStoppingSpec"),
					    decay_curve_fields,
					    "Stops trials that will hardly become the best." };

static const struct field median_fields[] = {
	FIELD(1, "useElapsedDuration", BOOL, 0, "Goes by elapsed time, not by steps."),
	END_OF_FIELDS,
};
static const struct message median = { OF("StudySpec.MedianAutomatedStoppingSpec"), median_fields,
				       "Stops trials that are below the median of the others." };

static const struct field convex_fields[] = {
	FIELD(1, "maxStepCount", INT64, 0, "The step at which trials end, for which the metric is predicted."),
	FIELD(2, "minStepCount", INT64, 0,
	      "No trial is stopped before this step; a tenth of maxStepCount unless given."),
	FIELD(3, "minMeasurementCount", INT64, 0,
	      "A trial is stopped only after this number of reports; 5 unless given."),
	FIELD(4, "learningRateParameterName", STRING, 0,
	      "The parameter that is the learning rate; kept, and not used."),
	FIELD(5, "useElapsedDuration", BOOL, 0, "Goes by elapsed time, not by steps."),
	FIELD(6, "updateAllStoppedTrials", BOOL, PRESENCE,
	      "Predict what stopped trials would have reached; kept, and not done."),
	END_OF_FIELDS,
};
static const struct message convex = { OF("StudySpec.ConvexAutomatedStoppingSpec"), convex_fields,
				       "Stops trials that even an optimistic forecast does not let win." };

static const struct field time_constraint_fields[] = {
	CHOICE_FIELD("constraint", 1, "maxDuration", DURATION, 0, "From the study's start, or"),
	CHOICE_FIELD("constraint", 2, "endTime", TIMESTAMP, 0, "a time."),
	END_OF_FIELDS,
};
static const struct message time_constraint = { OF("StudyTimeConstraint"), time_constraint_fields,
						"A point of time." };

static const struct field stopping_config_fields[] = {
	FIELD(1, "shouldStopAsap", BOOL, WRAPPED, "Stop now, and the running trials too."),
	MESSAGE(2, "minimumRuntimeConstraint", time_constraint, 0, "Go on until then at least."),
	MESSAGE(3, "maximumRuntimeConstraint", time_constraint, 0, "Go on until then at most."),
	FIELD(4, "minNumTrials", INT32, WRAPPED, "The minimum number of trials."),
	FIELD(5, "maxNumTrials", INT32, WRAPPED, "The maximum number of trials."),
	FIELD(6, "maxNumTrialsNoProgress", INT32, WRAPPED,
	      "Stop after this number of trials without a better one."),
	FIELD(7, "maxDurationNoProgress", DURATION, 0, "Stop after this time without a better trial."),
	END_OF_FIELDS,
};
static const struct message stopping_config = { OF("StudySpec.StudyStoppingConfig"), stopping_config_fields,
						"When to try no more." };

static const struct field transfer_learning_config_fields[] = {
	FIELD(1, "disableTransferLearning", BOOL, 0, "Learn from no other study."),
	FIELD(2, "priorStudyNames", STRING, REPEATED | OUT, "Studies that were learned from."),
	END_OF_FIELDS,
};
static const struct message transfer_learning_config = {
	"google.cloud.aiplatform.v1beta1.StudySpec.TransferLearningConfig", transfer_learning_config_fields,
	"Learning from other studies; without effect."
};

static const struct enum_value algorithm_values[] = {
	{ "ALGORITHM_UNSPECIFIED", 0, "Bayesian optimization." },
	{ "GRID_SEARCH", 2, "Every combination in turn." },
	{ "RANDOM_SEARCH", 3, "Combinations drawn at random." },
	END_OF_VALUES,
};
static const struct enum_type algorithm = { OF("StudySpec.Algorithm"), algorithm_values };

static const struct enum_value noise_values[] = {
	{ "OBSERVATION_NOISE_UNSPECIFIED", 0, "The service decides." },
	{ "LOW", 1, "The same parameters give the same metrics." },
	{ "HIGH", 2, "They do not: parameters may be tried again." },
	END_OF_VALUES,
};
static const struct enum_type noise = { OF("StudySpec.ObservationNoise"), noise_values };

static const struct enum_value selection_values[] = {
	{ "MEASUREMENT_SELECTION_TYPE_UNSPECIFIED", 0, "The same as LAST_MEASUREMENT." },
	{ "LAST_MEASUREMENT", 1, "The last report counts." },
	{ "BEST_MEASUREMENT", 2, "The best report counts." },
	END_OF_VALUES,
};
static const struct enum_type selection = { OF("StudySpec.MeasurementSelectionType"), selection_values };

#define STUDY_ROWS_TO_9                                                                                      \
	MESSAGE(1, "metrics", metric_spec, REPEATED | REQUIRED, "What to optimize."),                        \
		MESSAGE(2, "parameters", parameter_spec, REPEATED | REQUIRED, "What to vary."),              \
		ENUM(3, "algorithm", algorithm, 0, "How parameters are chosen; Bayesian unless given."),     \
		CHOICE("automated_stopping_spec", 4, "decayCurveStoppingSpec", decay_curve, 0,               \
		       "Stop trials early by this rule, or"),                                                \
		CHOICE("automated_stopping_spec", 5, "medianAutomatedStoppingSpec", median, 0,               \
		       "by this one, or"),                                                                   \
		ENUM(6, "observationNoise", noise, 0, "Whether metrics can be reproduced."),                 \
		ENUM(7, "measurementSelectionType", selection, 0,                                            \
		     "Which of a trial's reports counts at its end."),                                       \
		CHOICE("automated_stopping_spec", 9, "convexAutomatedStoppingSpec", convex, 0,               \
		       "by this one.")

#define STUDY_ROW_11 MESSAGE(11, "studyStoppingConfig", stopping_config, 0, "When to try no more.")

static const struct field study_spec_fields[] = { STUDY_ROWS_TO_9, STUDY_ROW_11, END_OF_FIELDS };
const struct message aiplatform_study_spec = { OF("StudySpec"), study_spec_fields, "A search." };

static const struct field study_spec_beta_fields[] = {
	STUDY_ROWS_TO_9,
	MESSAGE(10, "transferLearningConfig", transfer_learning_config, 0,
		"Learning from other studies; without effect."),
	STUDY_ROW_11,
	END_OF_FIELDS,
};
const struct message aiplatform_study_spec_beta = { "google.cloud.aiplatform.v1beta1.StudySpec",
						    study_spec_beta_fields, "A search." };
