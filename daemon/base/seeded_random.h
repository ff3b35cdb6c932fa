/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/seeded_random.h: the source of random ids. Not for keys, tokens and other secrets, which always come from
 * libsodium.
 *
 * Choice: one source for the process, like libsodium's own. With a seed, each kind of id has its own sequence, so the
 * ids of a request depend only on earlier requests of the same kind. Thread: any. */
#include <stddef.h>
#include <stdint.h>

enum random_kind {
	RANDOM_CLUSTER,  /* the random part of a cluster's names */
	RANDOM_RESOURCE, /* Vertex AI's jobs, pipelines, models and operations */
	RANDOM_TRIAL,    /* the custom jobs of trials, made by the scheduler */
	RANDOM_UPLOAD,   /* resumable uploads and uploads in parts */
	RANDOM_KIND_COUNT
};

/* Makes all ids depend on @seed and @start only. @start must differ at each start of a daemon, so that ids are not
 * repeated after a restart. Call this before the first id. */
void seeded_random_start(uint64_t seed, uint64_t start);

/* Fills @ret_bytes with the next @size bytes, at most 64; without a seed they are unpredictable. */
void seeded_random_draw(enum random_kind kind, void *ret_bytes, size_t size);
