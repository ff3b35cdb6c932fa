/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gateway/host_routes.h"

#include <stdio.h>
#include <string.h>

#include "api/training/regions.h"
#include "tests/unit/testing.h"

#define RULES(...) ((const char *const[]){ __VA_ARGS__ })

/* Fails with: name_valid() without its domain, its edges, its length. */
static void rules_are_checked(void **state)
{
	static const char *const good[] = {
		"bigquery.googleapis.com=http://127.0.0.1:9050",
		"bigquery.googleapis.com=http://bigquery:65535",
		"secretmanager.googleapis.com=https://[::1]:1",
		"a.b.googleapis.com=self",
		"*-aiplatform.googleapis.com=self",
	};
	static const char *const bad[] = {
		"",
		"bigquery.googleapis.com",
		"bigquery.googleapis.com=",
		"=self",
		"bigquery.googleapis.com=SELF",
		"bigquery.googleapis.com=127.0.0.1:9050",
		"bigquery.googleapis.com=http://127.0.0.1",
		"bigquery.googleapis.com=http://:80",
		"bigquery.googleapis.com=http://h:0",
		"bigquery.googleapis.com=http://h:65536",
		"bigquery.googleapis.com=http://h:80/path",
		"bigquery.googleapis.com=ftp://h:80",
		"BigQuery.googleapis.com=self",
		".googleapis.com=self",
		"*-.googleapis.com=self",
		"*.googleapis.com=self",
		"*-a*.googleapis.com=self",
		"-a.googleapis.com=self",
		"a..googleapis.com=self",
		"a_b.googleapis.com=self",
		"googleapis.com=self",
		"metadata.google.internal=self",
		"bigquery.googleapis.com.example.com=self",
		"xgoogleapis.com=self",
	};
	char rule[300] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!host_route_valid(good[i]))
			fail_msg("refused: %s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (host_route_valid(bad[i]))
			fail_msg("taken: %s", bad[i]);
	memset(rule, 'a', 253 - strlen(".googleapis.com"));
	strcat(rule, ".googleapis.com=self");
	assert_true(host_route_valid(rule));
	memmove(rule + 1, rule, strlen(rule) + 1);
	assert_false(host_route_valid(rule));
}

/* Fails with: target_split() that leaves the brackets. */
static void the_first_rule_about_a_name_counts(void **state)
{
	struct host_routes routes = { 0 };
	const struct host_route *route;

	(void)state;
	assert_int_equal(host_routes_make(RULES("us-east1-aiplatform.googleapis.com=http://here:80",
						"*-aiplatform.googleapis.com=self",
						"bigquery.googleapis.com=https://[::1]:9050",
						"bigquery.googleapis.com=self"),
					  4, &routes, NULL),
			 STATUS_OK);
	route = host_routes_find(&routes, "us-east1-aiplatform.googleapis.com");
	assert_int_equal(route->kind, ROUTE_PLAIN);
	assert_string_equal(route->host, "here");
	assert_string_equal(route->port, "80");
	for (const struct region *region = regions; region->name; region++) {
		char name[64];

		snprintf(name, sizeof(name), "%s-aiplatform.googleapis.com", region->name);
		assert_non_null(host_routes_find(&routes, name));
	}
	assert_int_equal(host_routes_find(&routes, "us-west1-aiplatform.googleapis.com")->kind, ROUTE_SELF);
	route = host_routes_find(&routes, "bigquery.googleapis.com");
	assert_int_equal(route->kind, ROUTE_TLS);
	assert_string_equal(route->host, "::1");
	assert_string_equal(route->port, "9050");
	assert_null(host_routes_find(&routes, "aiplatform.googleapis.com"));
	assert_null(host_routes_find(&routes, ""));
	host_routes_deinit(&routes);
}

/* Fails with: route_add() without its limit. */
static void there_is_an_end_to_names(void **state)
{
	const char *const rules[] = { "*-a.googleapis.com=self", "*-b.googleapis.com=self",
				      "*-c.googleapis.com=self", "*-d.googleapis.com=self",
				      "*-e.googleapis.com=self", "*-f.googleapis.com=self",
				      "*-g.googleapis.com=self", "*-h.googleapis.com=self" };
	struct host_routes routes = { 0 };
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(host_routes_make(rules, 8, &routes, &err), STATUS_INVALID_ARGUMENT);
	assert_string_equal(err.text, "--route: there are rules for more than 256 host names");
	assert_null(routes.list);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_checked),
		cmocka_unit_test(the_first_rule_about_a_name_counts),
		cmocka_unit_test(there_is_an_end_to_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
