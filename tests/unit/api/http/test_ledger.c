/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/ledger.h"

#include <inttypes.h>

#include "api/http/exchange.h"
#include "tests/unit/testing.h"

static void count_write(void *arg, const char *method, const char *code, uint64_t count)
{
	text_printf(arg, "%s %s %" PRIu64 "; ", method, code, count);
}

/* Broken: code_slot() that takes any status for its own slot: the counters were not bounded. */
static void requests_are_counted_by_method_and_status(void **state)
{
	static const struct exchange answered[] = {
		{ .method = "GET", .http_status = 200 },    { .method = "GET", .http_status = 200 },
		{ .method = "POST", .http_status = 404 },   { .method = "POST", .http_status = 777 },
		{ .method = "POST", .http_status = 999 },   { .method = "DELETE", .cut = true, .http_status = 200 },
		{ .method = NULL, .http_status = 503 },
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

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_counted_by_method_and_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
