/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/hasher.h: computes the checksums of a file while it is written.
 *
 * A few bytes are hashed at once. For more, a second thread hashes: the writer fills a block, writes it to the file,
 * passes it on and fills the next; it waits if all blocks are in use, so memory is bounded. Thread: one at a time. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Uses OpenSSL's plain digest functions, because their state can be copied with the struct for an intermediate sum;
 * deprecated since 3.0. */
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
	int64_t bytes;          /* bytes in the sums; with a ring it belongs to the thread until that ends */
	struct hash_ring *ring; /* NULL: no thread */
};

/* Sets up OpenSSL without its error texts and its tables of ciphers, which take 1.2 MiB. Call it before libcurl is
 * used: libcurl would load them, but the first setup in a process counts. Only for a process that uses OpenSSL for
 * nothing except these sums, like the daemon: its libcurl has streams without TLS (scheduler/engine/docker_endpoint.h),
 * and its TLS is that of GnuTLS. */
void hasher_limit_openssl(void);

void hasher_init(struct hasher *hasher);

/* Hashes on the calling thread. */
void hasher_add(struct hasher *hasher, const void *data, size_t length);

/* Starts the thread, which first reads from the file @fd the bytes between the sums and @written. */
enum status hasher_ring_start(struct hasher *hasher, int fd, int64_t written, struct error *err);
/* Returns a block of HASH_BLOCK_BYTES to fill; waits until one is free. */
char *hasher_block(struct hasher *hasher);
/* Passes the block, which has @length bytes, to the thread. */
void hasher_submit(struct hasher *hasher, size_t length);
/* Lets the thread finish and end. UNAVAILABLE: the file could not be read; the checksums then begin anew, with no
 * bytes. */
enum status hasher_ring_stop(struct hasher *hasher, struct error *err);

/* The present checksums; more bytes may follow. */
void hasher_sums(const struct hasher *hasher, struct checksums *ret_sums);
