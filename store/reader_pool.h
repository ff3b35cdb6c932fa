/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/reader_pool.h: read-only connections to one file, opened when first needed and lent one at a time. A caller
 * waits if none is free; a few are reserved for threads that must not wait. The requests of one job (work_owner()) get
 * a limited share, and all jobs together less than all, so that their queries cannot block other clients. Thread: any. */
#include <pthread.h>
#include <stdbool.h>

#include "store/connection.h"

enum {
	READER_LIMIT = 16,
	READER_KEPT = 2,   /* more connections, one for each thread with priority */
	READER_SHARE = 4,  /* how many of READER_LIMIT the work of one job may have */
	READER_OWNED = 12, /* how many of READER_LIMIT the work of all jobs together may have */
	/* Two limits: for all queries of one borrowed connection together, and for the wait for a free connection. */
	READER_TIME_US = 10 * 1000000,
	READER_REST_US = 20 * 1000000, /* a connection that is unused for longer frees its cached pages */
};

struct reader_pool {
	pthread_mutex_t lock;
	pthread_cond_t returned;
	char *path;
	enum connection_role role;
	struct connection *idle[READER_LIMIT + READER_KEPT];
	unsigned idle_count, lent_count, waiting;
	int64_t owners[READER_LIMIT + READER_KEPT]; /* the owner of each loan, in any order */
	bool ends;                                  /* queries end at once; atomic */
};

void reader_pool_init(struct reader_pool *pool, const char *path, enum connection_role role);
/* Ends the running and future queries as if their time were up, except those of threads with priority. */
void reader_pool_end(struct reader_pool *pool);
/* Call when all readers have been returned. */
void reader_pool_deinit(struct reader_pool *pool);

/* A connection on loan; it is returned at the end of the variable's scope. */
struct reader {
	struct reader_pool *pool;
	struct connection *connection;
};

/* Gives this thread priority: from now on it never waits for a connection of any pool. */
void reader_go_first(void);

/* Borrows a reader. UNAVAILABLE: no connection was free for READER_TIME_US. CANCELLED: the work was abandoned; this
 * also ends queries on the loan. */
enum status reader_borrow(struct reader_pool *pool, struct reader *ret_reader, struct error *err);
void reader_return(struct reader *reader);
#define AUTO_READER __attribute__((cleanup(reader_return)))
