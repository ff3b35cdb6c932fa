/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/chance.h: what ids are drawn from. Not for keys, tokens and other secrets: those are always libsodium's.
 *
 * Choice: one source for the process, as libsodium's own is. Seeded, each kind of id has a sequence of its own, so that
 * what a request draws depends on the requests of its kind before it alone. Thread: any. */
#include <stddef.h>
#include <stdint.h>

enum chance_kind {
	CHANCE_CLUSTER,  /* the random part of a cluster's names */
	CHANCE_RESOURCE, /* Vertex AI's jobs, pipelines, models and operations */
	CHANCE_TRIAL,    /* the custom jobs of trials, which the scheduler draws when it comes to that */
	CHANCE_UPLOAD,   /* resumable, or in parts */
	CHANCE_KIND_COUNT
};

/* From now on all follows from @seed and @start, which is another one at each start of a daemon, so that no id comes
 * again after a restart. Before the first id is drawn. */
void chance_seed(uint64_t seed, uint64_t start);

/* The next bytes; without a seed whatever chance gives. At most 64. */
void chance_draw(enum chance_kind kind, void *ret_bytes, size_t size);
