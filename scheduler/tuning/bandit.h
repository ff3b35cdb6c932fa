/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/bandit.h: the next trial by a Gaussian-process bandit.
 *
 * Where the model's upper confidence bound is highest, near what is known while little is known; for further members
 * of a batch, where most is to be learned among what may still be best.
 * Source: https://arxiv.org/abs/2408.11527 (Vizier's Gaussian-process bandit); the search for the acquisition's
 * maximum is ours: candidates, ascent, neighbours. Thread: one at a time. */
#include <stdbool.h>
#include <stddef.h>

#include "scheduler/tuning/draw.h"
#include "scheduler/tuning/gaussian_process.h"

/* A suggestion's surroundings. */
struct bandit {
	const struct study *study;
	const struct space *space;
	struct evidence evidence; /* the pending ones of this very call, too */
	struct kernel kernel;
	/* Some trial has ended since the newest pending one was suggested: its lesson is used before more is explored. */
	bool has_news;
};

/* Whether a point was tried before. */
struct tried {
	bool (*contains)(void *arg, const double *features);
	void *arg;
};

/* The best point found; exactly one that can be tried. @tried: not to be given again; contains NULL: all may be.
 * *ret_found false: every point that was looked at was tried. Errors: those of model_init(). */
enum status bandit_suggest(const struct bandit *bandit, struct draw *draw, const struct tried *tried,
			   double *ret_features, bool *ret_found, struct error *err);
