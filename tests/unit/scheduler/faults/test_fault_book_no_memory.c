/* SPDX-License-Identifier: Apache-2.0 */
/* A rule that there was no memory for is in nobody's book, nor there after the next start.
 * Broken: fault_book_add() that stores the rule before there is a page for it: it failed, and the table had one more. */
#include "scheduler/faults/fault_book.h"

#include "daemon/base/json.h"
#include "tests/unit/store/no_memory_testing.h"

static struct fault_book *book;
static json_t *canonical;

static void book_prepare(void *arg, unsigned number)
{
	struct world *world = arg;

	(void)number;
	if (!book)
		assert_int_equal(fault_book_open(world->bench.store, 1, &book, NULL), STATUS_OK);
	assert_int_equal(fault_book_clear(book, NULL), STATUS_OK);
}

static void book_look(void *arg, struct text *ret_seen)
{
	state_look(arg, ret_seen);
	text_printf(ret_seen, "%s;", fault_book_is_empty(book) ? "empty" : "has rules");
}

MEMORY_RUN(rule_add)
{
	WORLD;

	(void)store;
	return fault_book_add(book, canonical, true, &world->job, err);
}

static const struct memory_operation operations[] = {
	{ .name = "fault_book_add",
	  .prepare = book_prepare,
	  .run = rule_add,
	  .look = book_look,
	  .changes = true },
};

static int book_close(void **state)
{
	fault_book_free(book);
	json_decref(canonical);
	return world_close(state);
}

int main(void)
{
	struct CMUnitTest tests[COUNT_OF(operations)];

	memory_faults_init();
	canonical =
		json_loads("{\"fault\": \"httpStatus\", \"httpStatus\": 503, \"method\": \"ml.*\"}", 0, NULL);
	memory_tests_fill(tests, operations, COUNT_OF(operations), world_open, book_close);
	return cmocka_run_group_tests_name("the book of faults without memory", tests, NULL, NULL);
}
