/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/bandit.h: suggests the next trial by a Gaussian-process bandit.
 *
 * It maximises the model's upper confidence bound, in a trust region while little is known; for further members of a
 * batch, the expected information among points that may still be the best.
 * Source: https://arxiv.org/abs/2408.11527 (Vizier's Gaussian-process bandit); the maximisation of the acquisition
 * function is ours: candidates, ascent, neighbours. Thread: one at a time. */
#include <stdbool.h>
#include <stddef.h>

#include "scheduler/tuning/draw.h"
#include "scheduler/tuning/gaussian_process.h"

/* The input of a suggestion. */
struct bandit {
	const struct study *study;
	const struct space *space;
	struct evidence evidence; /* including the pending trials of this call */
	struct kernel kernel;
	/* True: a trial has ended since the newest pending one was suggested. Its result is exploited before more is
	 * explored. */
	bool has_news;
};

/* Points that were tried before. */
struct tried {
	bool (*contains)(void *arg, const double *features);
	void *arg;
};

/* Finds the most promising point, rounded to possible values. @tried: points not to be suggested again; if
 * tried->contains is NULL, every point may be suggested. *ret_found false: every examined point was tried before.
 * Errors: those of model_init(). */
enum status bandit_suggest(const struct bandit *bandit, struct draw *draw, const struct tried *tried,
			   double *ret_features, bool *ret_found, struct error *err);
