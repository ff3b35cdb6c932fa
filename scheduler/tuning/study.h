/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/study.h: a study: which parameters are varied, which metrics are optimized, and which points were
 * tried.
 *
 * Independent of any API and of jobs. The library in this folder takes studies and returns values: no I/O, no clock, no
 * state that has to survive. Thread: any, one at a time per study. */
#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

enum parameter_type { PARAMETER_DOUBLE, PARAMETER_INTEGER, PARAMETER_CATEGORICAL, PARAMETER_DISCRETE };
enum parameter_scale { SCALE_LINEAR, SCALE_LOG, SCALE_REVERSE_LOG };

enum {
	PARAMETERS_MAX = 256,
	PARAMETER_VALUES_MAX = 1000,
	METRICS_MAX = 8,
};

/* One parameter. Its value is a double: the number itself, or the index of a category. */
struct parameter {
	char *name;
	enum parameter_type type;
	enum parameter_scale scale;
	double minimum, maximum; /* for numbers; for DISCRETE the first and last value */
	double *values;          /* DISCRETE: strictly increasing */
	char **categories;       /* CATEGORICAL */
	size_t value_count;      /* of values or categories */
	/* A parameter with a parent is active only while the parent has one of these values. The parent comes before it,
	 * and is not a DOUBLE. */
	int parent; /* index in the study, or -1 */
	double *parent_values;
	size_t parent_value_count;
};

struct metric {
	char *name;
	bool minimized;
};

enum algorithm { ALGORITHM_BANDIT, ALGORITHM_RANDOM, ALGORITHM_GRID };
enum stopping_rule { STOPPING_NONE, STOPPING_MEDIAN, STOPPING_DECAY_CURVE, STOPPING_CONVEX };

/* For STOPPING_CONVEX, in steps, or in seconds if it goes by elapsed time. */
struct convex_rule {
	double most;      /* the step or time at which trials end; 0: the end of the longest completed trial */
	double least;     /* no trial is stopped before this step or time; negative: a tenth of most */
	/* minimum number of the trial's reports; more completed trials than that are needed too */
	unsigned reports;
};

struct study {
	uint64_t seed;
	enum algorithm algorithm;
	enum stopping_rule stopping;
	struct convex_rule convex;
	bool stops_by_elapsed;        /* the stopping rule compares by elapsed time instead of step */
	bool best_counts;             /* a trial's final measurement is its best one; else its last */
	bool repeats_allowed;         /* the metrics are noisy: parameters may be tried again */
	struct parameter *parameters; /* parents before their children */
	size_t parameter_count;
	struct metric *metrics; /* early stopping looks at the first */
	size_t metric_count;
};

void study_free(struct study *study);
DEFINE_AUTO(study, struct study *, study_free)

/* JSON for the store, and back. INVALID_ARGUMENT: not such JSON, or it violates the rules above. */
json_t *study_to_json(const struct study *study);
enum status study_from_json(const json_t *value, struct study **ret_study, struct error *err);

/* Whether a parent's value equals one that activates a child. */
bool parent_values_equal(double a, double b);
/* Whether parameter @index is active if the parameters before it have @values. */
bool parameter_is_active(const struct study *study, size_t index, const double *values);

struct measurement {
	int64_t step;
	double elapsed_s;
	double values[METRICS_MAX]; /* not finite: not reported */
};

enum trial_state {
	TRIAL_PENDING,
	TRIAL_COMPLETED,  /* final has its result; NaN for metrics that it did not report */
	TRIAL_INFEASIBLE, /* failed: counts as a bad result */
};

struct trial {
	unsigned id; /* from 1, in the order of suggestion */
	enum trial_state state;
	double *values; /* one for each parameter; NaN where inactive */
	double final[METRICS_MAX];
	unsigned
		/* position among the ended trials, from 1; 0: pending. Compared with `known` of other trials, it says
		 * on which results they were based */
		ended_as;
	unsigned known; /* how many trials had ended when it was suggested */
	bool stopped_early;
	struct measurement *measurements; /* by step, then elapsed time */
	size_t measurement_count;
};

/* Suggests points to try: fills @ret_values, one array of parameter_count doubles for each of @count, allocated by the
 * caller. *ret_count is less than @count only if the space has no more untried points. The same study and trials give
 * the same answer. Trials are in the order of their ids, which go up to @trial_count. @ended (NULL: never): checked
 * before each point; when it is true, the points made so far are returned. No input numbers make it fail. */
enum status study_suggest(const struct study *study, const struct trial *trials, size_t trial_count,
			  size_t count, const atomic_bool *ended, double *const *ret_values,
			  size_t *ret_count, struct error *err);

/* Whether pending trial @index should be stopped now. */
bool study_should_stop(const struct study *study, const struct trial *trials, size_t trial_count,
		       size_t index);

/* The final measurement of a trial, from its reports: the last one, or the best by the first metric. False: there is
 * none. */
bool trial_final(const struct study *study, const struct trial *trial, struct measurement *ret_final);
/* The best completed trial of a study with one metric, ties to the lower id; NULL: none. */
const struct trial *study_best(const struct study *study, const struct trial *trials, size_t trial_count);

/* The model's belief about a point, for display. */
struct belief {
	double mean, deviation; /* of the first metric, approximately in its own units: the warp is undone */
};
/* The belief of the bandit's model at each trial's own point, into @ret_beliefs. All NaN: there is no model, because
 * the algorithm has none or too few trials have ended. */
enum status study_believe(const struct study *study, const struct trial *trials, size_t trial_count,
			  struct belief *ret_beliefs, struct error *err);
