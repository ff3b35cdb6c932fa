/* SPDX-License-Identifier: Apache-2.0 */
/* tests/support/routes.inc, which the tests of tests/attack try, has all rows of the API and no others. */
#include "daemon/families.h"

#include <stdio.h>
#include <string.h>

#include "daemon/config.h"
#include "tests/unit/store/store_testing.h"

#define ROUTE(METHOD, PATH, WHO, TYPES) "ROUTE(\"" METHOD "\", \"" PATH "\", " #WHO ", " #TYPES ")"
static const char *const told[] = {
#include "tests/support/routes.inc"
};

enum { ROW_SIZE = 300 };

static void row_write(const struct family *family, const struct route *route, char row[ROW_SIZE])
{
	static const char *const types[] = {
		[PAGE_TYPES_NONE] = "JSON", [PAGE_TYPES_TEXT] = "OBJECT", [PAGE_TYPES_ALL] = "ANY"
	};
	const size_t omitted = family->omitted ? strlen(family->omitted) : 0;

	assert_true(snprintf(row, ROW_SIZE, "ROUTE(\"%s\", \"%s\", %s, %s)", route->method,
			     route->path + omitted, route->open ? "OPEN" : "TOKEN",
			     types[route->page_types]) < ROW_SIZE);
}

static bool is_its_own(const struct family *family, const struct route *route)
{
	const char *omitted = family->omitted;

	return !omitted || strncmp(route->path, omitted, strlen(omitted)) == 0;
}

/* Broken: the row of POST /_trainyard/v1/clock left out of the list; one of a path that nobody serves put in; clock_routes
 * with a DELETE more. */
static void every_row_is_listed_and_no_other(void **state)
{
	BENCH(state);
	struct objects *some = (struct objects *)bench; /* storage is served; nobody looks at it here */
	static char project[] = "p";
	const struct config config = { .project = project };
	static struct families families;
	bool seen[COUNT_OF(told)] = { false };
	unsigned missing = 0;

	families_fill(&families,
		      &(struct families_parts){ .config = &config, .store = bench->store, .objects = some });
	for (const struct family *family = families.served; family->name; family++)
		for (const struct route *route = family->routes; route->method; route++) {
			char row[ROW_SIZE];
			size_t i = 0;

			if (!is_its_own(family, route))
				continue;
			row_write(family, route, row);
			while (i < COUNT_OF(told) && strcmp(told[i], row) != 0)
				i++;
			if (i < COUNT_OF(told))
				seen[i] = true;
			else if (++missing)
				print_error("not in tests/support/routes.inc: %s\n", row);
		}
	for (size_t i = 0; i < COUNT_OF(told); i++)
		if (!seen[i] && ++missing)
			print_error("no row of the API: %s\n", told[i]);
	assert_int_equal(missing, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_row_is_listed_and_no_other, bench_open, bench_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
