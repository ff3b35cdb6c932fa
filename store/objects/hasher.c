/* SPDX-License-Identifier: Apache-2.0 */
#include "store/objects/hasher.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/base/crc32c.h"
#include "store/objects/blob_files.h"

struct hash_ring {
	struct hasher *hasher;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned filled, hashed; /* blocks so far, under the lock */
	bool ending;
	int fd; /* the file from which the bytes up to @before are read */
	int64_t before;
	int failure; /* the errno of a failed read; only the thread uses it until the thread ends */
	size_t lengths[HASH_BLOCK_COUNT];
	char blocks[HASH_BLOCK_COUNT][HASH_BLOCK_BYTES];
};

void hasher_limit_openssl(void)
{
	OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS | OPENSSL_INIT_NO_ADD_ALL_CIPHERS |
				    OPENSSL_INIT_NO_ADD_ALL_DIGESTS | OPENSSL_INIT_NO_LOAD_CONFIG,
			    NULL);
}

void hasher_init(struct hasher *hasher)
{
	*hasher = (struct hasher){ .bytes = 0 };
	MD5_Init(&hasher->md5);
}

void hasher_add(struct hasher *hasher, const void *data, size_t length)
{
	hasher->crc32c = crc32c_extend(hasher->crc32c, data, length);
	MD5_Update(&hasher->md5, data, length);
	hasher->bytes += (int64_t)length;
}

void hasher_sums(const struct hasher *hasher, struct checksums *ret_sums)
{
	MD5_CTX md5 = hasher->md5; /* a copy, because making the digest ends it */

	ret_sums->crc32c = hasher->crc32c;
	MD5_Final(ret_sums->md5, &md5);
}

/* Hashes the bytes that were in the file before the ring began. Returns 0 or an errno. */
static int before_hash(struct hash_ring *ring)
{
	struct hasher *hasher = ring->hasher;
	char *buffer = hasher->bytes < ring->before ? malloc(HASH_BLOCK_BYTES) : NULL;
	int failure = 0;

	while (!failure && hasher->bytes < ring->before) {
		int64_t left = ring->before - hasher->bytes;
		ssize_t length = -1;

		errno = ENOMEM;
		if (buffer)
			length = pread(ring->fd, buffer,
				       left < HASH_BLOCK_BYTES ? (size_t)left : HASH_BLOCK_BYTES,
				       hasher->bytes);
		if (length > 0)
			hasher_add(hasher, buffer, (size_t)length);
		else if (length == 0)
			failure = EIO; /* shorter than it was */
		else if (errno != EINTR)
			failure = errno;
	}
	free(buffer);
	return failure;
}

/* Waits for the next filled block. NULL: the writer has passed on its last one. */
static const char *block_wait(struct hash_ring *ring, size_t *ret_length)
{
	const char *block = NULL;

	pthread_mutex_lock(&ring->lock);
	while (ring->filled == ring->hashed && !ring->ending)
		pthread_cond_wait(&ring->changed, &ring->lock);
	if (ring->filled != ring->hashed) {
		block = ring->blocks[ring->hashed % HASH_BLOCK_COUNT];
		*ret_length = ring->lengths[ring->hashed % HASH_BLOCK_COUNT];
	}
	pthread_mutex_unlock(&ring->lock);
	return block;
}

static void block_done(struct hash_ring *ring)
{
	pthread_mutex_lock(&ring->lock);
	ring->hashed++;
	if (ring->filled - ring->hashed == HASH_BLOCK_COUNT / 2)
		pthread_cond_signal(&ring->changed);
	pthread_mutex_unlock(&ring->lock);
}

static void *ring_main(void *arg)
{
	struct hash_ring *ring = arg;
	const char *block;
	size_t length;

	ring->failure = before_hash(ring);
	while ((block = block_wait(ring, &length))) {
		if (!ring->failure)
			hasher_add(ring->hasher, block, length);
		block_done(ring);
	}
	return NULL;
}

static void ring_free(struct hash_ring *ring)
{
	pthread_cond_destroy(&ring->changed);
	pthread_mutex_destroy(&ring->lock);
	free(ring);
}

enum status hasher_ring_start(struct hasher *hasher, int fd, int64_t written, struct error *err)
{
	struct hash_ring *ring =
		malloc(sizeof(*ring)); /* no page of a block is touched before it is needed */

	if (!ring)
		return error_no_memory(err);
	ring->hasher = hasher;
	ring->fd = fd;
	ring->before = written;
	ring->filled = ring->hashed = 0;
	ring->ending = false;
	ring->failure = 0;
	pthread_mutex_init(&ring->lock, NULL);
	pthread_cond_init(&ring->changed, NULL);
	if (pthread_create(&ring->thread, NULL, ring_main, ring) != 0) {
		ring_free(ring);
		return error_set(err, STATUS_UNAVAILABLE, NULL, "cannot start the thread that computes an upload's checksums");
	}
	hasher->ring = ring;
	return STATUS_OK;
}

char *hasher_block(struct hasher *hasher)
{
	struct hash_ring *ring = hasher->ring;
	char *block;

	pthread_mutex_lock(&ring->lock);
	if (ring->filled - ring->hashed == HASH_BLOCK_COUNT)
		while (ring->filled - ring->hashed > HASH_BLOCK_COUNT / 2)
			pthread_cond_wait(&ring->changed, &ring->lock);
	block = ring->blocks[ring->filled % HASH_BLOCK_COUNT];
	pthread_mutex_unlock(&ring->lock);
	return block;
}

void hasher_submit(struct hasher *hasher, size_t length)
{
	struct hash_ring *ring = hasher->ring;

	pthread_mutex_lock(&ring->lock);
	ring->lengths[ring->filled % HASH_BLOCK_COUNT] = length;
	if (ring->filled++ == ring->hashed)
		pthread_cond_signal(&ring->changed);
	pthread_mutex_unlock(&ring->lock);
}

enum status hasher_ring_stop(struct hasher *hasher, struct error *err)
{
	struct hash_ring *ring = hasher->ring;
	int failure;

	if (!ring)
		return STATUS_OK;
	pthread_mutex_lock(&ring->lock);
	ring->ending = true;
	pthread_cond_signal(&ring->changed);
	pthread_mutex_unlock(&ring->lock);
	pthread_join(ring->thread, NULL);
	failure = ring->failure;
	ring_free(ring);
	hasher->ring = NULL;
	if (!failure)
		return STATUS_OK;
	hasher_init(hasher);
	return file_error(err, failure, "read back an upload");
}
