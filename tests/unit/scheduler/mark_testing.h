/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/mark_testing.h: the number of stored marks of fault rules. */
#include "store/jobs/faults.h"
#include "tests/unit/testing.h"

static inline enum status mark_count(void *arg, const struct fault_mark *mark, struct error *err)
{
	(void)mark, (void)err;
	++*(size_t *)arg;
	return STATUS_OK;
}

static inline size_t marks_of(struct store *store)
{
	size_t count = 0;

	assert_int_equal(fault_marks_read(store, mark_count, &count, NULL), STATUS_OK);
	return count;
}
