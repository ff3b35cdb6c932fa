/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/hasher.h: the checksums of a file that is being written.
 *
 * Few bytes are hashed where they are. For more, a thread hashes beside the one that writes: that one fills a block,
 * writes it to the file, hands it over and fills the next; it waits when all blocks are taken, so that memory is
 * bounded. Thread: one at a time. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The digest's plain functions: a sum so far is a copy of the struct. Deprecated since 3.0 for those that need no copy. */
#define OPENSSL_API_COMPAT 0x10100000L
#include <openssl/md5.h>

#include "daemon/base/error.h"

enum { HASH_BLOCK_BYTES = 256 * 1024, HASH_BLOCK_COUNT = 8 };

struct hash_ring;

struct checksums {
	uint32_t crc32c;
	unsigned char md5[16];
};

struct hasher {
	MD5_CTX md5;
	uint32_t crc32c;
	int64_t bytes;          /* that are in the sums; with a ring: the thread's, until it ends */
	struct hash_ring *ring; /* NULL: no thread */
};

void hasher_init(struct hasher *hasher);

/* Without a thread. */
void hasher_add(struct hasher *hasher, const void *data, size_t length);

/* Starts the thread. It begins with what the file @fd has between the sums and @written. */
enum status hasher_ring_start(struct hasher *hasher, int fd, int64_t written, struct error *err);
/* A block to fill, HASH_BLOCK_BYTES large; waits for one. */
char *hasher_block(struct hasher *hasher);
/* Hands the block over, with so many bytes in it, and gives up the block. */
void hasher_submit(struct hasher *hasher, size_t length);
/* Lets the thread finish and end. UNAVAILABLE: the file could not be read; the sums are begun anew then. */
enum status hasher_ring_stop(struct hasher *hasher, struct error *err);

/* What it comes to so far; more may follow. */
void hasher_sums(const struct hasher *hasher, struct checksums *ret_sums);
