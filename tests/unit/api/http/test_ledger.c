/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/ledger.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "api/http/exchange.h"
#include "tests/unit/testing.h"

static const struct exchange_rules rules = { .clock = &system_clock };

static void count_write(void *arg, const char *method, const char *code, uint64_t count)
{
	text_printf(arg, "%s %s %" PRIu64 "; ", method, code, count);
}

/* Fails with: code_slot() that takes any status for its own slot: the counters were not bounded. */
static void requests_are_counted_by_method_and_status(void **state)
{
	static const struct exchange answered[] = {
		{ .rules = &rules, .method = "GET", .http_status = 200 },
		{ .rules = &rules, .method = "GET", .http_status = 200 },
		{ .rules = &rules, .method = "POST", .http_status = 404 },
		{ .rules = &rules, .method = "POST", .http_status = 777 },
		{ .rules = &rules, .method = "POST", .http_status = 999 },
		{ .rules = &rules, .method = "DELETE", .http_status = 200, .cut = true },
		{ .rules = &rules, .method = NULL, .http_status = 503 },
	};
	struct ledger *ledger = ledger_new();
	struct text seen AUTO_TEXT = { 0 };

	(void)state;
	ledger_add(NULL, &answered[0]);
	for (size_t i = 0; i < COUNT_OF(answered); i++)
		ledger_add(ledger, &answered[i]);
	ledger_counts_each(ledger, count_write, &seen);
	assert_string_equal(seen.data, "GET 200 2; GET 503 1; POST 404 1; POST other 2; DELETE cut 1; ");
	ledger_free(ledger);
}

/* Fails with: entry_after() without the bound below: the answer was an entry that had been replaced. */
static void the_last_thousand_are_kept(void **state)
{
	struct exchange exchange = { .rules = &rules, .method = "GET", .http_status = 200 };
	struct ledger *ledger = ledger_new();
	struct ledger_entry entry;

	(void)state;
	assert_false(ledger_next(ledger, 0, &entry));
	assert_false(ledger_await(ledger, 0, 1));
	for (unsigned i = 0; i < LEDGER_ENTRIES + 10; i++)
		ledger_add(ledger, &exchange);
	assert_true(ledger_next(ledger, 0, &entry));
	assert_int_equal(entry.number, 11);
	assert_true(ledger_next(ledger, 500, &entry));
	assert_int_equal(entry.number, 501);
	assert_true(ledger_await(ledger, LEDGER_ENTRIES + 9, 1));
	assert_true(ledger_next(ledger, LEDGER_ENTRIES + 9, &entry));
	assert_int_equal(entry.number, LEDGER_ENTRIES + 10);
	assert_false(ledger_next(ledger, LEDGER_ENTRIES + 10, &entry));
	ledger_free(ledger);
}

static const char *console_find(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "X-Trainyard-Console") == 0 ? "1" : NULL;
}

/* Fails with: is_console_read() without its method, without `failed`, or without the browser's name: what was done was not
 * listed. */
static void what_a_page_reads_is_counted_alone(void **state)
{
	static const struct {
		const char *method, *agent;
		bool marked, failed, is_listed;
		const char *path;
	} rows[] = {
		{ "GET", "Mozilla/5.0", false, false, false, "_trainyard/console/app.js" },
		{ "GET", "Mozilla/5.0", true, false, false }, { "GET", "Mozilla/5.0", true, true, true },
		{ "POST", "Mozilla/5.0", true, false, true }, { "GET", "Mozilla/5.0", false, false, true },
		{ "GET", "curl/8", true, false, true },	      { "GET", NULL, true, false, true },
		{ "POST", "Mozilla/5.0", true, false, false, "_trainyard/v1/shells/a:input" },
		{ "POST", "Mozilla/5.0", false, false, true, "_trainyard/v1/shells/a:input" },
		{ "POST", "Mozilla/5.0", true, true, true, "_trainyard/v1/shells/a:input" },
	};
	struct ledger *ledger = ledger_new();
	struct text seen AUTO_TEXT = { 0 };
	uint64_t listed = 0;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct exchange exchange = { .rules = &rules,
					     .method = rows[i].method,
					     .http_status = 200,
					     .failed = rows[i].failed,
					     .target.path = rows[i].path ? rows[i].path : "v1/x",
					     .head.find = rows[i].marked ? console_find : NULL };

		exchange.head.values[HEADER_USER_AGENT] = rows[i].agent;
		if (rows[i].failed)
			error_set(&exchange.error, STATUS_NOT_FOUND, NULL, "nothing is there");
		ledger_add(ledger, &exchange);
		error_deinit(&exchange.error);
		listed += rows[i].is_listed;
		assert_int_equal(ledger_await(ledger, listed, 0), false);
		assert_true(!listed || ledger_await(ledger, listed - 1, 0));
	}
	ledger_counts_each(ledger, count_write, &seen);
	assert_string_equal(seen.data, "GET 200 6; POST 200 4; ");
	ledger_free(ledger);
}

/* Fails with: the path of a shell that is kept as it came; a line end in a header that is kept. */
static void no_secret_and_no_line_end_is_kept(void **state)
{
	static const struct route shell = { .method = "GET",
					    .path = "/_trainyard/shell/{token}",
					    .open = true };
	struct exchange exchange = { .rules = &rules, .method = "GET", .http_status = 200 };
	struct ledger *ledger = ledger_new();
	struct ledger_entry entry;

	(void)state;
	exchange.target.path = "_trainyard/shell/secret";
	ledger_add(ledger, &exchange);
	exchange.match.route = &shell;
	exchange.match.kind = MATCH_ROUTE;
	ledger_add(ledger, &exchange);
	exchange.match.kind = MATCH_NOTHING;
	exchange.target.path = "v1/a\nb";
	exchange.head.values[HEADER_USER_AGENT] = "curl\033[2J";
	exchange.failed = error_set(&exchange.error, STATUS_INTERNAL, NULL, "the disk says so");
	ledger_add(ledger, &exchange);
	assert_true(ledger_next(ledger, 0, &entry));
	assert_string_equal(entry.path, "/_trainyard/shell/");
	assert_true(ledger_next(ledger, 1, &entry));
	assert_string_equal(entry.path, "/_trainyard/shell/{token}");
	assert_true(ledger_next(ledger, 2, &entry));
	assert_string_equal(entry.path, "/v1/a b");
	assert_string_equal(entry.agent, "curl [2J");
	assert_null(strstr(entry.reason, "disk"));
	error_deinit(&exchange.error);
	ledger_free(ledger);
}

enum { ADDING = 3, ANSWERS = 400, AWAIT_US = 60000000 };

static void *answers_add(void *arg)
{
	const struct exchange exchange = { .rules = &rules, .method = "GET", .http_status = 200 };

	for (int i = 0; i < ANSWERS; i++)
		ledger_add(arg, &exchange);
	return NULL;
}

/* Fails with: ledger_next() without the lock: ThreadSanitizer told of it. */
static void answers_of_several_threads_are_read_in_their_order(void **state)
{
	struct ledger *ledger = ledger_new();
	struct text counts AUTO_TEXT = { 0 };
	pthread_t threads[ADDING];
	uint64_t last = 0;

	(void)state;
	for (size_t i = 0; i < ADDING; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, answers_add, ledger), 0);
	while (last < ADDING * ANSWERS) {
		struct ledger_entry entry;

		assert_true(ledger_await(ledger, last, AWAIT_US));
		assert_true(ledger_next(ledger, last, &entry));
		assert_true(entry.number > last);
		last = entry.number;
		text_clear(&counts);
		ledger_counts_each(ledger, count_write, &counts);
	}
	for (size_t i = 0; i < ADDING; i++)
		pthread_join(threads[i], NULL);
	text_clear(&counts);
	ledger_counts_each(ledger, count_write, &counts);
	assert_string_equal(counts.data, "GET 200 1200; ");
	ledger_free(ledger);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_counted_by_method_and_status),
		cmocka_unit_test(the_last_thousand_are_kept),
		cmocka_unit_test(what_a_page_reads_is_counted_alone),
		cmocka_unit_test(no_secret_and_no_line_end_is_kept),
		cmocka_unit_test(answers_of_several_threads_are_read_in_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
