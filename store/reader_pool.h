/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/reader_pool.h: read-only connections to one file, opened when first needed, lent one at a
 * time. A caller waits if none is free; a few are reserved for threads that must not wait. A job's requests (work_owner()) get
 * a share, and all jobs together less than all, so that the queries of some jobs keep no other client waiting. Thread: any. */
#include <pthread.h>
#include <stdbool.h>

#include "store/connection.h"

enum {
	READER_LIMIT = 16,
	READER_KEPT = 2,   /* more, for threads that go first: as many as there are of them */
	READER_SHARE = 4,  /* of READER_LIMIT, for each owner of work but the daemon's own clients */
	READER_OWNED = 12, /* and for all such owners together */
	READER_TIME_US =
		10 * 1000000, /* a loan ends its queries after that, and a caller that waits for one gives up */
	READER_REST_US =
		20 * 1000000, /* what nobody has borrowed for so long gives back the pages it has read */
};

struct reader_pool {
	pthread_mutex_t lock;
	pthread_cond_t returned;
	char *path;
	enum connection_role role;
	struct connection *idle[READER_LIMIT + READER_KEPT];
	unsigned idle_count, lent_count, waiting;
	int64_t owners[READER_LIMIT + READER_KEPT]; /* of those that are lent, in any order */
	bool ends;                                  /* queries end at once; atomic */
};

void reader_pool_init(struct reader_pool *pool, const char *path, enum connection_role role);
/* Ends the queries that are under way, and those to come, as if their time were up; not those of threads that go first. */
void reader_pool_end(struct reader_pool *pool);
/* All readers are back. */
void reader_pool_deinit(struct reader_pool *pool);

/* A connection on loan, given back when its scope ends. */
struct reader {
	struct reader_pool *pool;
	struct connection *connection;
};

/* From now on what this thread borrows, of any pool, is there however many others have borrowed. */
void reader_go_first(void);

/* UNAVAILABLE when none was free for long. CANCELLED: the work is abandoned; queries on the loan end so as well. */
enum status reader_borrow(struct reader_pool *pool, struct reader *ret_reader, struct error *err);
void reader_return(struct reader *reader);
#define AUTO_READER __attribute__((cleanup(reader_return)))
