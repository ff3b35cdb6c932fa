/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_route.c: what a connection that cannot be made says of the node and of the way there. */
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_route.h"
#include "tests/unit/scheduler/engine/docker_testing.h"

#define TASK(node)                                                                                           \
	"{\"NodeID\":\"" node "\",\"CreatedAt\":\"1\",\"DesiredState\":\"running\",\"Status\":{\"State\":\"running\"," \
	"\"ContainerStatus\":{\"ContainerID\":\"abc\"}},\"NetworksAttachments\":[{\"Addresses\":[\"10.0.1.5/24\"]}]}"

/* Whether the way was seen closed, and open, by a connection to the node n2 of the manager at @path. */
static void dial(const char *path, bool *ret_closed, bool *ret_open)
{
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	const struct endpoint_dialer *dialer;
	struct wire_keys keys = { 0 };
	int64_t closed_us = -1, open_us = -1;
	char url[120], problem[256] = "";

	snprintf(url, sizeof(url), "swarm:n2:unix://%s", path);
	assert_int_equal(route_endpoint_open(url, &endpoint, NULL), STATUS_OK);
	dialer = &endpoint_address(endpoint)->dialer;
	dialer->way(dialer->arg, &closed_us, &open_us);
	assert_true(!closed_us && !open_us);
	assert_int_equal(dialer->dial(dialer->arg, &keys, problem, sizeof(problem)), -1);
	assert_true(*problem);
	dialer->way(dialer->arg, &closed_us, &open_us);
	*ret_closed = closed_us != 0;
	*ret_open = open_us != 0;
}

/* Fails with: route_dial() that sets closed_us in any case: a drained node was never lost. agents_find() that sets open_us before
 * it looks at the manager's own agent. */
static void a_connection_that_fails_says_why(void **state)
{
	static const struct {
		const char *tasks; /* NULL: the manager refuses */
		bool closed, open;
	} rows[] = {
		{ NULL, true, false },
		{ "[]", true, false },                                   /* the manager's own agent is away */
		{ "[" TASK("n2") "]", true, false },                     /* likewise */
		{ "[" TASK("n1") "]", false, true },                     /* the node has no agent */
		{ "[" TASK("n1") "," TASK("n2") "]", true, true },       /* but no keys are there */
	};
	struct lab *lab = *state;
	bool closed, open;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		rule_set(lab, 0, (struct rule){ "/info", 200, "{\"Swarm\":{\"NodeID\":\"n1\"}}" });
		rule_set(lab, 1, (struct rule){ "/tasks", rows[i].tasks ? 200 : 503, rows[i].tasks ? rows[i].tasks : "{}" });
		rule_set(lab, 2, (struct rule){ "/configs", 404, "{}" });
		dial(lab->path, &closed, &open);
		if (closed != rows[i].closed || open != rows[i].open)
			fail_msg("row %zu: %d %d", i, closed, open);
	}
	dial("/nowhere/docker.sock", &closed, &open);
	assert_true(closed && !open);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(a_connection_that_fails_says_why),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker route", tests, NULL, NULL);
}
