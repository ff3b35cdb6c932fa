/* SPDX-License-Identifier: Apache-2.0 */
/* Suggests points to try, by the study's algorithm. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "scheduler/tuning/bandit.h"
#include "scheduler/tuning/draw.h"
#include "scheduler/tuning/space.h"
#include "scheduler/tuning/study.h"
#include "scheduler/tuning/warp.h"

enum {
	MODEL_TRIALS_MAX =
		500, /* more trials cost too much (cubic time): the best half and the newest half are used */
	RANDOM_TRIES = 64,
};

/* The state of one call of study_suggest(): the trials as points, followed by the points of this call. */
struct search {
	const struct study *study;
	const struct trial *trials;
	size_t trial_count;
	struct space space;
	double *points; /* points of all trials, and of those suggested now, in the order of their ids */
	size_t point_count;
	bool fitted;
	struct kernel kernel;
};

static void search_init(struct search *search, const struct study *study, const struct trial *trials,
			size_t trial_count, size_t count)
{
	*search = (struct search){ .study = study, .trials = trials, .trial_count = trial_count };
	space_init(&search->space, study);
	search->points = memory_calloc((trial_count + count) * search->space.count + 1, sizeof(double));
	for (size_t i = 0; i < trial_count; i++)
		space_encode(&search->space, trials[i].values, search->points + i * search->space.count);
	search->point_count = trial_count;
}

static void search_deinit(struct search *search)
{
	space_deinit(&search->space);
	free(search->points);
}

static bool was_tried(void *arg, const double *features)
{
	const struct search *search = arg;

	for (size_t i = 0; i < search->point_count; i++)
		if (space_points_equal(&search->space, search->points + i * search->space.count, features))
			return true;
	return false;
}

/* ---- random and grid ---- */

static bool random_untried(struct search *search, struct draw *draw, double *ret_features, double *ret_values)
{
	for (unsigned i = 0; i < RANDOM_TRIES; i++) {
		space_random(&search->space, draw, ret_features);
		space_decode(&search->space, ret_features, ret_values);
		if (search->study->repeats_allowed || !was_tried(search, ret_features))
			return true;
	}
	return false;
}

/* The first point of a finite space that was not tried. */
static bool first_untried(struct search *search, double *ret_features, double *ret_values)
{
	if (isinf(search->space.point_count))
		return false;
	for (size_t i = 0; space_grid(&search->space, i, ret_values); i++) {
		space_encode(&search->space, ret_values, ret_features);
		if (!was_tried(search, ret_features))
			return true;
	}
	return false;
}

/* Draws a random point; random search does not avoid points that were tried before. */
static void suggest_random(struct search *search, struct draw *draw, double *ret_features, double *ret_values)
{
	space_random(&search->space, draw, ret_features);
	space_decode(&search->space, ret_features, ret_values);
}

/* Whether the tried points are the first points of the grid, in its order. */
static bool follows_grid(const struct search *search, double *room_features, double *room_values)
{
	for (size_t i = 0; i < search->point_count; i++) {
		if (!space_grid(&search->space, i, room_values))
			return false;
		space_encode(&search->space, room_values, room_features);
		if (!space_points_equal(&search->space, search->points + i * search->space.count,
					room_features))
			return false;
	}
	return true;
}

/* Takes the next point of the grid, or the first untried one if the tried points do not follow the grid: trials of an
 * earlier study may lie anywhere. */
static bool suggest_grid(struct search *search, double *ret_features, double *ret_values)
{
	if (!isinf(search->space.point_count) && !follows_grid(search, ret_features, ret_values))
		return first_untried(search, ret_features, ret_values);
	if (!space_grid(&search->space, search->point_count, ret_values))
		return false;
	space_encode(&search->space, ret_values, ret_features);
	return true;
}

/* ---- the bandit ---- */

/* The trials in the form of the model: the ended ones first. */
struct lesson {
	double *memory, *points, *labels[METRICS_MAX];
	double *outcomes; /* the values from which the first labels were made */
	size_t count, completed_count;
};

static double outcome_of(const struct study *study, const struct trial *trial, size_t metric)
{
	if (trial->state != TRIAL_COMPLETED)
		return NAN;
	return study->metrics[metric].minimized ? -trial->final[metric] : trial->final[metric];
}

struct ranked {
	double outcome;
	size_t index;
};

static int compare_outcomes(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	const bool x_failed = isnan(x->outcome), y_failed = isnan(y->outcome);

	if (x_failed != y_failed)
		return x_failed ? 1 : -1;
	if (!x_failed && x->outcome != y->outcome)
		return x->outcome < y->outcome ? 1 : -1;
	return x->index < y->index ? 1 : -1;
}

/* Chooses ended trials to learn from, best and newest alternating, so that any beginning of the list has both. */
static size_t ended_choose(const struct search *search, struct ranked *room, bool *taken, size_t *ret_chosen)
{
	size_t ended = 0, count = 0, newest, best = 0;

	for (size_t i = 0; i < search->trial_count; i++)
		if (search->trials[i].state != TRIAL_PENDING)
			room[ended++] =
				(struct ranked){ outcome_of(search->study, &search->trials[i], 0), i };
	qsort(room, ended, sizeof(*room), compare_outcomes);
	newest = search->trial_count;
	while (count < ended && count < MODEL_TRIALS_MAX) {
		size_t pick;

		if (count % 2) {
			do
				newest--;
			while (taken[newest] || search->trials[newest].state == TRIAL_PENDING);
			pick = newest;
		} else {
			while (taken[room[best].index])
				best++;
			pick = room[best].index;
		}
		taken[pick] = true;
		ret_chosen[count++] = pick;
	}
	return count;
}

static void labels_fill(const struct search *search, struct lesson *lesson, const size_t *chosen)
{
	for (size_t i = 0; i < lesson->completed_count; i++)
		lesson->outcomes[i] = outcome_of(search->study, &search->trials[chosen[i]], 0);
	for (size_t m = 0; m < search->study->metric_count; m++) {
		for (size_t i = 0; i < lesson->completed_count; i++)
			lesson->labels[m][i] = outcome_of(search->study, &search->trials[chosen[i]], m);
		labels_warp(lesson->labels[m], lesson->completed_count);
	}
}

static void pending_add(const struct search *search, struct lesson *lesson)
{
	const size_t dims = search->space.count;

	for (size_t i = 0; i < search->point_count; i++) {
		if (i < search->trial_count && search->trials[i].state != TRIAL_PENDING)
			continue;
		memcpy(lesson->points + lesson->count++ * dims, search->points + i * dims,
		       dims * sizeof(double));
	}
}

static void lesson_make(const struct search *search, struct lesson *lesson)
{
	const size_t dims = search->space.count, total = search->point_count;
	struct ranked *room = memory_calloc(total + 1, sizeof(*room));
	size_t *chosen = memory_calloc(total + 1, sizeof(*chosen));
	bool *taken = memory_calloc(total + 1, sizeof(*taken));

	lesson->memory = memory_calloc(total * (dims + search->study->metric_count + 1) + 1, sizeof(double));
	lesson->points = lesson->memory;
	for (size_t m = 0; m < search->study->metric_count; m++)
		lesson->labels[m] = lesson->memory + total * (dims + m);
	lesson->outcomes = lesson->memory + total * (dims + search->study->metric_count);
	lesson->completed_count = lesson->count = ended_choose(search, room, taken, chosen);
	for (size_t i = 0; i < lesson->count; i++)
		memcpy(lesson->points + i * dims, search->points + chosen[i] * dims, dims * sizeof(double));
	labels_fill(search, lesson, chosen);
	pending_add(search, lesson);
	free(room);
	free(chosen);
	free(taken);
}

static bool has_news(const struct search *search)
{
	unsigned ended = 0, known = 0;
	bool pending = search->point_count > search->trial_count;

	/* Points suggested in this call were made with all ended trials known, so there is no news. */
	if (pending)
		return false;
	for (size_t i = 0; i < search->trial_count; i++) {
		const struct trial *trial = &search->trials[i];

		if (trial->state != TRIAL_PENDING) {
			ended++;
			continue;
		}
		pending = true;
		known = trial->known > known ? trial->known : known;
	}
	return !pending || ended > known;
}

static enum status bandit_run(struct search *search, struct lesson *lesson, struct draw *draw,
			      double *ret_features, bool *ret_found, struct error *err)
{
	struct tried tried = { .contains = search->study->repeats_allowed ? NULL : was_tried, .arg = search };
	struct bandit bandit = {
		.study = search->study,
		.space = &search->space,
		.evidence = { .space = &search->space,
			      .points = lesson->points,
			      .count = lesson->count,
			      .completed_count = lesson->completed_count,
			      .metric_count = search->study->metric_count },
		.has_news = has_news(search),
	};

	memcpy(bandit.evidence.labels, lesson->labels, sizeof(lesson->labels));
	if (!search->fitted) {
		struct draw starts;

		draw_init(&starts, search->study->seed, search->trial_count, "fit");
		kernel_fit(&bandit.evidence, &starts, &search->kernel);
		search->fitted = true;
	}
	bandit.kernel = search->kernel;
	return bandit_suggest(&bandit, draw, &tried, ret_features, ret_found, err);
}

static bool suggest_first(const struct search *search, double *ret_features)
{
	if (search->trial_count)
		return false;
	if (search->point_count)
		space_halton(&search->space, search->study->seed, search->point_count, ret_features);
	else
		space_centre(&search->space, ret_features);
	return true;
}

/* Suggests a point by the model. Numerical failures do not stop a search: *ret_found is then false. */
static enum status suggest_learned(struct search *search, struct draw *draw, double *ret_features,
				   bool *ret_found, struct error *err)
{
	struct lesson lesson = { 0 };
	struct error problem AUTO_ERROR = { 0 };
	enum status rc;

	lesson_make(search, &lesson);
	rc = bandit_run(search, &lesson, draw, ret_features, ret_found, &problem);
	free(lesson.memory);
	return rc && rc != STATUS_FAILED_PRECONDITION ? error_move(err, &problem) : STATUS_OK;
}

static enum status suggest_bandit(struct search *search, struct draw *draw, double *ret_features,
				  double *ret_values, bool *ret_found, struct error *err)
{
	enum status rc = STATUS_OK;

	*ret_found = suggest_first(search, ret_features);
	if (!*ret_found)
		rc = suggest_learned(search, draw, ret_features, ret_found, err);
	if (rc)
		return rc;
	if (*ret_found) {
		space_decode(&search->space, ret_features, ret_values);
		*ret_found = search->study->repeats_allowed || !was_tried(search, ret_features);
	}
	if (!*ret_found)
		*ret_found = random_untried(search, draw, ret_features, ret_values) ||
			     first_untried(search, ret_features, ret_values);
	return STATUS_OK;
}

static enum status suggest_one(struct search *search, double *ret_values, bool *ret_found, struct error *err)
{
	double *features = search->points + search->point_count * search->space.count;
	struct draw draw;
	enum status rc = STATUS_OK;

	draw_init(&draw, search->study->seed, search->point_count, "suggestion");
	switch (search->study->algorithm) {
	case ALGORITHM_RANDOM:
		suggest_random(search, &draw, features, ret_values);
		*ret_found = true;
		break;
	case ALGORITHM_GRID:
		*ret_found = suggest_grid(search, features, ret_values);
		break;
	case ALGORITHM_BANDIT:
		rc = suggest_bandit(search, &draw, features, ret_values, ret_found, err);
		break;
	}
	if (!rc && *ret_found)
		search->point_count++;
	return rc;
}

enum status study_suggest(const struct study *study, const struct trial *trials, size_t trial_count,
			  size_t count, const atomic_bool *ended, double *const *ret_values,
			  size_t *ret_count, struct error *err)
{
	struct search search;
	bool found = true;
	enum status rc = STATUS_OK;

	search_init(&search, study, trials, trial_count, count);
	*ret_count = 0;
	while (!rc && found && *ret_count < count && !(ended && atomic_load(ended))) {
		found = false;
		rc = suggest_one(&search, ret_values[*ret_count], &found, err);
		*ret_count += !rc && found;
	}
	search_deinit(&search);
	return rc;
}

/* ---- beliefs ---- */

struct pair {
	double label, outcome;
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return (x->label > y->label) - (x->label < y->label);
}

/* Makes the pairs of label and outcome of the completed trials, sorted by label, each label once. */
static size_t pairs_make(const struct lesson *lesson, struct pair *pairs)
{
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < lesson->completed_count; i++)
		if (isfinite(lesson->outcomes[i]))
			pairs[count++] = (struct pair){ lesson->labels[0][i], lesson->outcomes[i] };
	qsort(pairs, count, sizeof(*pairs), compare_pairs);
	for (size_t i = 0; i < count; i++)
		if (!kept || pairs[i].label > pairs[kept - 1].label)
			pairs[kept++] = pairs[i];
	return kept;
}

/* Converts a label back to an outcome, along straight lines between the pairs; the first and the last line are extended. */
static double unwarped(const struct pair *pairs, size_t count, double label)
{
	size_t next = 1;
	double share;

	while (next + 1 < count && pairs[next].label < label)
		next++;
	share = (label - pairs[next - 1].label) / (pairs[next].label - pairs[next - 1].label);
	return pairs[next - 1].outcome * (1 - share) + pairs[next].outcome * share;
}

static void beliefs_make(const struct search *search, const struct model *model, const struct pair *pairs,
			 size_t pair_count, double *room, struct belief *ret_beliefs)
{
	const double sign = search->study->metrics[0].minimized ? -1 : 1;
	const size_t dims = search->space.count;
	double *points = room + model_room(model);
	struct prediction predictions[MODEL_BLOCK];

	for (size_t i = 0; i < search->trial_count; i++) {
		double low, high;

		for (size_t b = 0; b < MODEL_BLOCK; b++)
			memcpy(points + b * dims, search->points + i * dims, dims * sizeof(double));
		model_predict(model, points, room, predictions);
		low = unwarped(pairs, pair_count, predictions[0].mean[0] - predictions[0].deviation);
		high = unwarped(pairs, pair_count, predictions[0].mean[0] + predictions[0].deviation);
		ret_beliefs[i] = (struct belief){
			.mean = sign * unwarped(pairs, pair_count, predictions[0].mean[0]),
			.deviation = fabs(high - low) / 2,
		};
	}
}

static enum status lesson_believe(const struct search *search, const struct lesson *lesson,
				  struct belief *ret_beliefs, struct error *err)
{
	struct evidence evidence = { .space = &search->space,
				     .points = lesson->points,
				     .count = lesson->count,
				     .completed_count = lesson->completed_count,
				     .metric_count = search->study->metric_count };
	struct pair *pairs = memory_calloc(lesson->completed_count + 1, sizeof(*pairs));
	const size_t pair_count = pairs_make(lesson, pairs);
	struct model model = { 0 };
	struct kernel kernel;
	struct draw starts;
	double *room = NULL;
	enum status rc = STATUS_OK;

	memcpy(evidence.labels, lesson->labels, sizeof(lesson->labels));
	draw_init(&starts, search->study->seed, search->trial_count, "fit");
	if (pair_count > 1) {
		kernel_fit(&evidence, &starts, &kernel);
		rc = model_init(&model, &evidence, &kernel, -1, err);
	}
	if (!rc && pair_count > 1) {
		room = memory_calloc(model_room(&model) + MODEL_BLOCK * search->space.count, sizeof(*room));
		beliefs_make(search, &model, pairs, pair_count, room, ret_beliefs);
		model_deinit(&model);
	}
	free(room);
	free(pairs);
	return rc;
}

enum status study_believe(const struct study *study, const struct trial *trials, size_t trial_count,
			  struct belief *ret_beliefs, struct error *err)
{
	struct search search = { 0 };
	struct lesson lesson = { 0 };
	enum status rc;

	for (size_t i = 0; i < trial_count; i++)
		ret_beliefs[i] = (struct belief){ NAN, NAN };
	if (study->algorithm != ALGORITHM_BANDIT || !trial_count)
		return STATUS_OK;
	search_init(&search, study, trials, trial_count, 0);
	lesson_make(&search, &lesson);
	rc = lesson_believe(&search, &lesson, ret_beliefs, err);
	free(lesson.memory);
	search_deinit(&search);
	return rc;
}
