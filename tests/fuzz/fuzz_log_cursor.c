/* SPDX-License-Identifier: Apache-2.0 */
/* Cursors of a job's log, which clients hand back.
 *
 * What must hold beside not crashing: what is refused is INVALID_ARGUMENT of the field cursor; a cursor that is taken, written
 * out again, is taken as well and then the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/text.h"
#include "store/logs/log_tail.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* False: it is not a cursor. */
static bool cursor_try(const char *cursor, struct text *ret_written)
{
	AUTO(log_tail) struct log_tail *tail = NULL;
	struct error err AUTO_ERROR = { 0 };
	const enum status rc =
		log_tail_open(NULL, &(struct log_tail_spec){ .last = -1, .cursor = cursor }, &tail, &err);

	require(!rc || (rc == STATUS_INVALID_ARGUMENT && err.violation_count == 1));
	if (!rc)
		log_tail_cursor(tail, ret_written);
	return !rc;
}

/* Fails with: cursor_read() without the number's end: "n5x" was taken, and written as "n5". */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text cursor AUTO_TEXT = { 0 }, once AUTO_TEXT = { 0 }, twice AUTO_TEXT = { 0 };

	text_clean(&cursor, (const char *)data, size);
	text_puts(&cursor, "");
	if (!cursor_try(cursor.data, &once))
		return 0;
	require(cursor_try(once.data, &twice));
	require(strcmp(once.data, twice.data) == 0);
	return 0;
}
