/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/seeded_random.h: what ids are drawn from. Not for keys, tokens and other secrets: those are always libsodium's.
 *
 * Choice: one source for the process, as libsodium's own is. Seeded, each kind of id has a sequence of its own, so that
 * what a request draws depends on the requests of its kind before it alone. Thread: any. */
#include <stddef.h>
#include <stdint.h>

enum random_kind {
	RANDOM_CLUSTER,  /* the random part of a cluster's names */
	RANDOM_RESOURCE, /* Vertex AI's jobs, pipelines, models and operations */
	RANDOM_TRIAL,    /* the custom jobs of trials, which the scheduler draws when it comes to that */
	RANDOM_UPLOAD,   /* resumable, or in parts */
	RANDOM_KIND_COUNT
};

/* From now on all follows from @seed and @start, which is another one at each start of a daemon, so that no id comes
 * again after a restart. Before the first id is drawn. */
void seeded_random_start(uint64_t seed, uint64_t start);

/* The next bytes; without a seed whatever chance gives. At most 64. */
void seeded_random_draw(enum random_kind kind, void *ret_bytes, size_t size);
