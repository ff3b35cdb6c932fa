/* SPDX-License-Identifier: Apache-2.0 */
/* Tests daemon/gcs/gcs_turns.c: how many calls of each container run, which are next, and which are refused; and
 * gcs_node.c. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/gcs/gcs_node.h"
#include "daemon/gcs/gcs_turns.h"
#include "tests/unit/testing.h"

static enum gcs_turn take(struct gcs_turns *turns, uint64_t node)
{
	return gcs_turns_take(turns, node, 0, "call", sizeof("call"));
}

/* Begins calls of a container until one has to wait; returns their number. */
static unsigned fill(struct gcs_turns *turns, uint64_t node)
{
	unsigned begun = 0;

	while (take(turns, node) == GCS_TURN_NOW)
		begun++;
	return begun;
}

/* Fails with: may_begin() that looks at no container: the first one has all. */
static void each_container_has_half_of_what_is_free(void **state)
{
	struct gcs_turns *turns = gcs_turns_new();

	(void)state;
	assert_int_equal(fill(turns, 1), GCS_TURNS / 2);
	assert_int_equal(fill(turns, 2), GCS_TURNS / 4);
	assert_int_equal(fill(turns, 3), GCS_TURNS / 8);
	assert_int_equal(fill(turns, 1), 0);
	gcs_turns_free(turns);
}

/* Fails with: gcs_turns_pass() that takes the first, whosever it is. */
static void what_was_kept_begins_when_its_container_may(void **state)
{
	struct gcs_turns *turns = gcs_turns_new();
	struct gcs_held *next;

	(void)state;
	for (uint64_t node = 1; fill(turns, node) > 0; node++)
		;
	take(turns, 1);
	take(turns, 99);
	next = gcs_turns_pass(turns, 1);
	assert_int_equal(next->node, 7); /* the first container without a running call */
	assert_string_equal(next->bytes, "call");
	free(next);
	next = gcs_turns_pass(turns, 7);
	assert_int_equal(next->node, 99);
	free(next);
	gcs_turns_free(turns);
}

/* Fails with: may_be_kept() that is always true. */
static void only_so_many_bytes_are_kept(void **state)
{
	struct gcs_turns *turns = gcs_turns_new();
	const size_t size = 1 << 20;
	char *bytes = calloc(1, size);
	unsigned kept = 0;

	(void)state;
	fill(turns, 1);
	while (gcs_turns_take(turns, 1, 0, bytes, size) == GCS_TURN_LATER)
		kept++;
	assert_int_equal(kept, GCS_HELD_BYTES / 2 / size);
	assert_int_equal(take(turns, 1), GCS_TURN_LATER);
	fill(turns, 2);
	assert_int_equal(gcs_turns_take(turns, 2, 0, bytes, size), GCS_TURN_LATER);
	free(bytes);
	gcs_turns_free(turns);
}

/* Fails with: gcs_turns_abandoned() that finds none: a killed process waits for its turn; gcs_caller_is_killed() that says so of
 * process 0: a release is given up, and its handle stays open. */
static void whoever_is_killed_does_not_wait_for_his_turn(void **state)
{
	struct gcs_turns *turns = gcs_turns_new();
	const pid_t killed = fork();
	struct gcs_held *held;
	siginfo_t info;

	(void)state;
	if (killed == 0)
		for (;;)
			pause();
	fill(turns, 1);
	assert_int_equal(gcs_turns_take(turns, 1, killed, "dead", sizeof("dead")), GCS_TURN_LATER);
	assert_int_equal(gcs_turns_take(turns, 1, 0, "release", sizeof("release")), GCS_TURN_LATER);
	assert_int_equal(gcs_turns_take(turns, 1, getpid(), "live", sizeof("live")), GCS_TURN_LATER);
	assert_true(gcs_turns_wait(turns));
	assert_null(gcs_turns_abandoned(turns));
	kill(killed, SIGKILL);
	waitid(P_PID, (id_t)killed, &info, WEXITED | WNOWAIT);
	held = gcs_turns_abandoned(turns);
	assert_string_equal(held->bytes, "dead");
	assert_null(held->next);
	free(held);
	gcs_turns_stop(turns);
	assert_false(gcs_turns_wait(turns));
	waitpid(killed, NULL, 0);
	gcs_turns_free(turns);
}

/* Fails with: gcs_node_reserve() without what the container's other files have. */
static void a_container_has_as_much_as_is_free(void **state)
{
	const int fd = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct gcs_nodes *nodes = gcs_nodes_new(fd);
	struct gcs_node *node = gcs_node_join(nodes, 1), *other = gcs_node_join(nodes, 2);
	int64_t one = 0, two = 0, three = 0, room;
	struct statvfs facts;

	(void)state;
	fstatvfs(fd, &facts);
	room = (int64_t)(facts.f_bavail * facts.f_frsize) / 10;
	assert_ptr_equal(gcs_node_join(nodes, 1), node);
	assert_int_equal(gcs_node_reserve(nodes, node, &one, GCS_OBJECT_BYTES_MAX + 1), -EFBIG);
	assert_int_equal(gcs_node_reserve(nodes, node, &one, 6 * room), 0);
	assert_int_equal(gcs_node_reserve(nodes, node, &two, 6 * room), -ENOSPC);
	assert_int_equal(two, 0);
	assert_int_equal(gcs_node_reserve(nodes, other, &three, 6 * room), 0);
	gcs_node_leave(nodes, node, one);
	assert_int_equal(gcs_node_reserve(nodes, node, &two, 6 * room), 0);
	gcs_node_leave(nodes, node, two);
	gcs_node_leave(nodes, other, three);
	gcs_nodes_free(nodes);
	close(fd);
}

/* Fails with: gcs_node_open() that counts all containers together: no other container can open a file. */
static void a_container_leaves_others_as_much_to_open(void **state)
{
	static struct gcs_node *opened[GCS_OPEN_MAX];
	struct gcs_nodes *nodes = gcs_nodes_new(-1);
	unsigned own = 0, others = 0, all;

	(void)state;
	while (gcs_node_open(nodes, 1, &opened[own]) == 0)
		own++;
	while (gcs_node_open(nodes, 2, &opened[own + others]) == 0)
		others++;
	assert_int_equal(gcs_node_open(nodes, 1, &opened[0]), -ENFILE);
	assert_int_equal(others, (own + 1) / 2);
	all = own + others;
	for (unsigned i = 0; i < all; i++)
		gcs_node_close(nodes, opened[i]);
	assert_int_equal(gcs_node_open(nodes, 1, &opened[0]), 0);
	gcs_node_close(nodes, opened[0]);
	gcs_nodes_free(nodes);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_container_has_half_of_what_is_free),
		cmocka_unit_test(what_was_kept_begins_when_its_container_may),
		cmocka_unit_test(only_so_many_bytes_are_kept),
		cmocka_unit_test(whoever_is_killed_does_not_wait_for_his_turn),
		cmocka_unit_test(a_container_has_as_much_as_is_free),
		cmocka_unit_test(a_container_leaves_others_as_much_to_open),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("gcs_turns", tests, NULL, NULL);
}
