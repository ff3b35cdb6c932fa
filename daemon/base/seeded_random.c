/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/seeded_random.h"

#include <sodium.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

static bool is_seeded;
static uint64_t root[2]; /* seed, start */
static atomic_uint_least64_t drawn[RANDOM_KIND_COUNT];

void seeded_random_start(uint64_t seed, uint64_t start)
{
	root[0] = seed;
	root[1] = start;
	for (int kind = 0; kind < RANDOM_KIND_COUNT; kind++)
		atomic_store(&drawn[kind], 0);
	is_seeded = true;
}

void seeded_random_draw(enum random_kind kind, void *ret_bytes, size_t size)
{
	const uint64_t place[] = { root[0], root[1], kind,
				   is_seeded ? atomic_fetch_add(&drawn[kind], 1) : 0 };
	unsigned char hash[crypto_generichash_BYTES_MAX];

	if (!is_seeded) {
		randombytes_buf(ret_bytes, size);
		return;
	}
	crypto_generichash(hash, sizeof(hash), (const unsigned char *)place, sizeof(place), NULL, 0);
	memcpy(ret_bytes, hash, size);
}
