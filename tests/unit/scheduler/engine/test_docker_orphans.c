/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "daemon/base/json.h"
#include "scheduler/engine/docker_orphans.h"
#include "tests/unit/testing.h"

#define CONTAINER(instance, name, state)                                                                     \
	"{\"Id\":\"0a\",\"Names\":[\"/" name "\"],\"State\":\"" state "\",\"Created\":100,\"Labels\":"       \
	"{\"trainyard.instance\":\"" instance "\",\"trainyard.job_id\":\"a job\"}}"
#define NETWORK(instance, name)                                                                              \
	"{\"Id\":\"0b\",\"Name\":\"" name "\",\"Created\":\"1970-01-01T00:00:50.5Z\",\"Labels\":"            \
	"{\"trainyard.instance\":\"" instance "\"}}"

static void add(struct orphans *list, enum orphan_kind kind, const char *text)
{
	AUTO(json) json_t *answer = json_loads(text, JSON_DECODE_ANY, NULL);

	assert_non_null(answer);
	orphans_add(list, kind, answer);
}

static void things_are_counted_by_instance(void **state)
{
	struct orphans list AUTO_ORPHANS = { 0 };
	struct orphan_count count;
	size_t at;

	(void)state;
	add(&list, ORPHAN_NETWORK, "[" NETWORK("b", "ty-b-1") "," NETWORK("a", "ty-a-7") "]");
	add(&list, ORPHAN_CONTAINER,
	    "[" CONTAINER("b", "ty-b-1-master-0-a1", "exited") "," CONTAINER(
		    "a", "ty-a-7-worker-1-a1", "paused") "," CONTAINER("a", "ty-a-7-worker-0-a1",
								       "running") "]");
	orphans_sort(&list);
	assert_int_equal(list.count, 5);
	assert_string_equal(list.items[0].name, "ty-a-7-worker-0-a1");
	assert_string_equal(list.items[0].job_id, "a job");
	assert_int_equal(list.items[2].kind, ORPHAN_NETWORK);
	at = orphans_count(&list, 0, &count);
	assert_int_equal(at, 3);
	assert_string_equal(count.instance, "a");
	assert_int_equal(count.containers, 2);
	assert_int_equal(count.running, 2);
	assert_int_equal(count.networks, 1);
	assert_int_equal(count.oldest_s, 50);
	assert_int_equal(orphans_count(&list, at, &count), 5);
	assert_string_equal(count.instance, "b");
	assert_int_equal(count.running, 0);
}

/* Fails with: name_is_ours() and id_valid() that say yes to all. */
static void what_is_not_ours_or_strange_is_left_out(void **state)
{
	static const char *const strange[] = {
		"{}",
		"null",
		"[[], 1, \"x\", null, {}]",
		"[" CONTAINER("a", "mine", "running") "]",
		"[" CONTAINER("a", "ty-ab-1", "running") "]",
		"[" CONTAINER("a", "ty-a", "running") "]",
		"[" CONTAINER("", "ty--1", "running") "]",
		"[" CONTAINER("A/..", "ty-A/..-1", "running") "]",
		"[" CONTAINER("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "ty-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-1",
			      "running") "]",
		"[{\"Id\":\"../x\",\"Names\":[\"/ty-a-1\"],\"Labels\":{\"trainyard.instance\":\"a\"}}]",
		"[{\"Id\":\"\",\"Names\":[\"/ty-a-1\"],\"Labels\":{\"trainyard.instance\":\"a\"}}]",
		"[{\"Id\":\"0a\",\"Names\":[],\"Labels\":{\"trainyard.instance\":\"a\"}}]",
		"[{\"Id\":\"0a\",\"Names\":[1],\"Labels\":{\"trainyard.instance\":[]}}]",
	};
	struct orphans list AUTO_ORPHANS = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(strange); i++) {
		add(&list, ORPHAN_CONTAINER, strange[i]);
		add(&list, ORPHAN_NETWORK, strange[i]);
		assert_int_equal(list.count, 0);
	}
	orphans_sort(&list);
}

static void times_that_are_none_are_not_known(void **state)
{
	struct orphans list AUTO_ORPHANS = { 0 };
	struct orphan_count count;

	(void)state;
	add(&list, ORPHAN_NETWORK,
	    "[{\"Id\":\"0a\",\"Name\":\"ty-a-1\",\"Created\":\"soon\",\"Labels\":{\"trainyard.instance\":\"a\"}}]");
	assert_int_equal(orphans_count(&list, 0, &count), 1);
	assert_int_equal(count.oldest_s, 0);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(things_are_counted_by_instance),
		cmocka_unit_test(what_is_not_ours_or_strange_is_left_out),
		cmocka_unit_test(times_that_are_none_are_not_known),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker_orphans", tests, NULL, NULL);
}
