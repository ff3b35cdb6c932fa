/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/tuning/tuning_testing.h: studies written as JSON, and trials of them. */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "scheduler/tuning/study.h"
#include "tests/unit/testing.h"

/* A study of @parameters (the inside of a JSON array) with one metric to minimize. */
static inline struct study *study_of(const char *algorithm, const char *parameters)
{
	struct text text AUTO_TEXT = { 0 };
	struct error err AUTO_ERROR = { 0 };
	struct study *study = NULL;

	assert_true(sodium_init() >= 0);
	text_printf(&text,
		    "{\"seed\": 7, \"algorithm\": \"%s\", \"stopping\": \"none\", \"parameters\": [%s],"
		    " \"metrics\": [{\"name\": \"loss\", \"minimized\": true}]}",
		    algorithm, parameters);
	AUTO(json) json_t *value = json_loads(text.data, 0, NULL);
	assert_int_equal(study_from_json(value, &study, &err), STATUS_OK);
	return study;
}

struct trials {
	const struct study *study;
	struct trial list[1100];
	double values[1100][8];
	size_t count;
	unsigned ended;
};

static inline struct trial *trials_add(struct trials *trials, const double *values)
{
	struct trial *trial = &trials->list[trials->count];

	assert_true(trials->study->parameter_count <= 8 && trials->count < COUNT_OF(trials->list));
	memcpy(trials->values[trials->count], values, trials->study->parameter_count * sizeof(double));
	*trial = (struct trial){ .id = (unsigned)trials->count + 1,
				 .values = trials->values[trials->count],
				 .known = trials->ended };
	trials->count++;
	return trial;
}

/* @reached: NaN: the trial failed. */
static inline void trials_end(struct trials *trials, struct trial *trial, double reached)
{
	trial->state = isnan(reached) ? TRIAL_INFEASIBLE : TRIAL_COMPLETED;
	trial->final[0] = reached;
	trial->ended_as = ++trials->ended;
}

/* Makes one suggestion and adds it as pending; NULL: there is none left. */
static inline struct trial *trials_suggest(struct trials *trials)
{
	double values[8], *rows[] = { values };
	struct error err AUTO_ERROR = { 0 };
	size_t count;

	assert_int_equal(
		study_suggest(trials->study, trials->list, trials->count, 1, NULL, rows, &count, &err),
		STATUS_OK);
	return count ? trials_add(trials, values) : NULL;
}
