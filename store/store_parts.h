/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/store_parts.h: the members of struct store, for the store's own files. */
#include "daemon/base/clock.h"
#include "store/jobs/job_cache.h"
#include "store/page_token.h"
#include "store/reader_pool.h"

struct job_changes;
struct logs_writer;
struct progress_board;
struct state_writer;

struct store {
	const struct clock *clock;
	int lock_fd;
	char instance[9];
	uint64_t start;
	struct page_key page_key;
	unsigned char secret[32];
	struct reader_pool state_readers, logs_readers;
	struct job_cache jobs;
	struct job_changes *changes;
	struct progress_board *progress;
	struct logs_writer *logs;
	struct state_writer *state;
};
