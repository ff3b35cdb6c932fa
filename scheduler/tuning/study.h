/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/study.h: a search: what is varied, what is wanted, and what was tried so far.
 *
 * Said without any API's words, and with no knowledge of jobs. The library in this folder takes studies and
 * returns values: no I/O, no clock, no state of its own that has to survive. Thread: any, one at a time per study. */
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

/* One thing that is varied. A value of it is a double: the number itself, or the index of a category. */
struct parameter {
	char *name;
	enum parameter_type type;
	enum parameter_scale scale;
	double minimum, maximum; /* numbers: of DISCRETE its first and last value */
	double *values;          /* DISCRETE: strictly increasing */
	char **categories;       /* CATEGORICAL */
	size_t value_count;      /* of values or categories */
	/* A child is active only while its parent has one of these values; its parent comes before it, and is no DOUBLE. */
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

/* Of STOPPING_CONVEX, in steps, or in seconds where it goes by elapsed time. */
struct convex_rule {
	double most;      /* where trials end; 0: where the longest one that was completed did */
	double least;     /* none is stopped before; negative: a tenth of most */
	unsigned reports; /* so many of the trial, and one trial more than so many completed, are needed */
};

struct study {
	uint64_t seed;
	enum algorithm algorithm;
	enum stopping_rule stopping;
	struct convex_rule convex;
	bool stops_by_elapsed;        /* the stopping rule compares by elapsed time rather than by step */
	bool best_counts;             /* a trial's final measurement is its best one; else its last */
	bool repeats_allowed;         /* noise is high: the same parameters may come again */
	struct parameter *parameters; /* parents before their children */
	size_t parameter_count;
	struct metric *metrics; /* the first is the one that stopping looks at */
	size_t metric_count;
};

void study_free(struct study *study);
DEFINE_AUTO(study, struct study *, study_free)

/* JSON for the store, and back. INVALID_ARGUMENT: not one of ours, or against what is said above. */
json_t *study_to_json(const struct study *study);
enum status study_from_json(const json_t *value, struct study **ret_study, struct error *err);

/* Whether a parent's value is one that a child is active with. */
bool parent_values_equal(double a, double b);
/* Whether parameter @index is active when the parameters before it have @values. */
bool parameter_is_active(const struct study *study, size_t index, const double *values);

struct measurement {
	int64_t step;
	double elapsed_s;
	double values[METRICS_MAX]; /* not finite: that one was not reported */
};

enum trial_state {
	TRIAL_PENDING,
	TRIAL_COMPLETED,  /* final holds what it reached; NaN where it reported nothing */
	TRIAL_INFEASIBLE, /* failed: it teaches that its like is bad */
};

struct trial {
	unsigned id; /* from 1, in the order of suggestion */
	enum trial_state state;
	double *values; /* one for each parameter; NaN where inactive */
	double final[METRICS_MAX];
	unsigned
		ended_as; /* the how-manieth to end, from 1; 0: pending. Says what was known when others began */
	unsigned known; /* how many had ended when it was suggested */
	bool stopped_early;
	struct measurement *measurements; /* by step, then elapsed time */
	size_t measurement_count;
};

/* What to try next: fills @ret_values, one array of parameter_count doubles for each of @count, allocated by the
 * caller. Less than @count only where the space has no more points that were not tried (*ret_count). The same study
 * and trials give the same answer. Trials are in the order of their ids and have ids up to @trial_count.
 * @ended (NULL: never): looked at before each one that is suggested; those made until it is true are given, as if no
 * more had been asked for.
 * Numbers never make it fail. */
enum status study_suggest(const struct study *study, const struct trial *trials, size_t trial_count,
			  size_t count, const atomic_bool *ended, double *const *ret_values,
			  size_t *ret_count, struct error *err);

/* Whether pending trial @index is to be stopped now. */
bool study_should_stop(const struct study *study, const struct trial *trials, size_t trial_count,
		       size_t index);

/* The final measurement of a trial from its reports: last or best of the first metric. False: there is none. */
bool trial_final(const struct study *study, const struct trial *trial, struct measurement *ret_final);
/* The best completed trial of a study with one metric, ties to the lower id; NULL: none. */
const struct trial *study_best(const struct study *study, const struct trial *trials, size_t trial_count);

/* What the model believes of a point: for people to look at. */
struct belief {
	double mean, deviation; /* of the first metric, in its own units, roughly: the warp is undone */
};
/* What the bandit's model believes at each trial's own point, into @ret_beliefs, one for each. NaN throughout: there is
 * no model, as the algorithm has none or too little has ended. */
enum status study_believe(const struct study *study, const struct trial *trials, size_t trial_count,
			  struct belief *ret_beliefs, struct error *err);
