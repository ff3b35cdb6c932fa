/* SPDX-License-Identifier: Apache-2.0 */
/* tests/integration/engine_contract.c: what scheduler/engine/engine.h promises, against a real engine.
 *
 * Takes DOCKER_HOST (unix:///…); without an engine there, everything is skipped with that reason.
 * Makes its image itself, from a static /bin/busybox. The engine is reached through a relay, so that
 * it can be lost and found again without touching it. TRAINYARD_TEST_PULL_IMAGE names an image that the
 * engine can pull and does not have (with the credentials of DOCKER_CONFIG, if set); without it the pull
 * is not tried. With TRAINYARD_TEST_GUEST, the socket of another engine of the same swarm, overlays are tried: the engine is
 * a manager's. */
#include "tests/integration/engine_contract.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/integration/engine_api.h"

enum { TESTS_MAX = 64 };

/* Tests with requirements that some machines lack. Such a test is left out, not skipped: cmocka 1.1 reports a skip as
 * "not ok", which counts as a failure. */
static const struct condition {
	const char *test, *variable, *reason;
} conditions[] = {
	{ "lines_come_fast", "TRAINYARD_BENCH_LINES", "TRAINYARD_BENCH_LINES is not set" },
	{ "an_image_is_pulled_once_for_many", "TRAINYARD_TEST_PULL_IMAGE",
	  "TRAINYARD_TEST_PULL_IMAGE names no image" },
	{ "replicas_of_two_nodes_reach_each_other_and_the_daemon", "TRAINYARD_TEST_GUEST",
	  "TRAINYARD_TEST_GUEST names no engine" },
	{ "an_encrypted_overlay_carries_what_the_kernel_can", "TRAINYARD_TEST_GUEST",
	  "TRAINYARD_TEST_GUEST names no engine" },
	{ "a_manager_reports_the_nodes", "TRAINYARD_TEST_GUEST", "TRAINYARD_TEST_GUEST names no engine" },
};

static bool is_left_out(const char *test)
{
	for (size_t i = 0; i < COUNT_OF(conditions); i++) {
		if (strcmp(conditions[i].test, test) != 0 || getenv(conditions[i].variable))
			continue;
		printf("# not run: %s: %s\n", test, conditions[i].reason);
		return true;
	}
	return false;
}

static size_t tests_gather(struct CMUnitTest ret_tests[TESTS_MAX])
{
	static const struct CMUnitTest *const parts[] = { contract_replicas,  contract_files,
							  contract_terminals, contract_logs,
							  contract_networks,  contract_images,
							  contract_overlays };
	size_t count = 0;

	for (size_t i = 0; i < COUNT_OF(parts); i++)
		for (const struct CMUnitTest *test = parts[i]; test->name; test++) {
			if (count == TESTS_MAX)
				abort();
			if (!is_left_out(test->name))
				ret_tests[count++] = *test;
		}
	return count;
}

int main(void)
{
	struct CMUnitTest tests[TESTS_MAX];
	const char *host = getenv("DOCKER_HOST");

	if (getenv("CMOCKA_MESSAGE_OUTPUT") == NULL)
		cmocka_set_message_output(CM_OUTPUT_TAP);
	if (!host)
		host = "unix:///var/run/docker.sock";
	snprintf(engine_socket, sizeof(engine_socket), "%s",
		 strncmp(host, "unix://", 7) == 0 ? host + 7 : host);
	if (sodium_init() < 0 || api("GET", "/_ping", NULL, NULL, 0, NULL) != 200) {
		printf("1..0 # SKIP no engine answers at %s\n", host);
		return 0;
	}
	if (!image_make()) {
		printf("1..0 # SKIP no image can be made: /bin/busybox (static) is wanted\n");
		return 0;
	}
	if (getenv("TRAINYARD_TEST_FILTER"))
		cmocka_set_test_filter(getenv("TRAINYARD_TEST_FILTER"));
	return _cmocka_run_group_tests("engine contract", tests, tests_gather(tests), NULL, NULL);
}
