/* SPDX-License-Identifier: Apache-2.0 */
/* In which container's terminal a shell is opened. */
#include "daemon/shell_terminals.h"

#include <stdlib.h>

#include "tests/unit/testing.h"

/* An engine that has one container. */
struct lab {
	struct engine engine; /* first, so that a pointer to it is one to the lab */
	struct replica_key there;
	unsigned asked;
	bool closed;
};

static ssize_t read_none(struct terminal *terminal, char *buffer, size_t size, unsigned timeout_ms)
{
	(void)terminal, (void)buffer, (void)size, (void)timeout_ms;
	return -1;
}

struct lab_terminal {
	struct terminal terminal; /* first, so that a pointer to it is one to the struct */
	struct lab *lab;
};

static void note_close(struct terminal *terminal)
{
	((struct lab_terminal *)terminal)->lab->closed = true;
	free(terminal);
}

static const struct terminal_ops terminal_ops = { .read = read_none, .close = note_close };

static enum status open_terminal(struct engine *engine, const struct replica_key *key, const json_t *command,
				 enum terminal_kind kind, struct terminal **ret_terminal, struct error *err)
{
	struct lab *lab = (struct lab *)engine;
	struct lab_terminal *terminal;

	(void)command, (void)kind;
	lab->asked++;
	if (key->job != lab->there.job || key->attempt != lab->there.attempt ||
	    key->role != lab->there.role || key->index != lab->there.index ||
	    key->restart != lab->there.restart)
		return error_set(err, STATUS_NOT_FOUND, NULL, "No such container");
	terminal = malloc(sizeof(*terminal));
	*terminal = (struct lab_terminal){ { &terminal_ops }, lab };
	*ret_terminal = &terminal->terminal;
	return STATUS_OK;
}

static const struct engine_ops engine_ops = { .open_terminal = open_terminal };
static const struct replica_key wanted = { .job = 7, .attempt = 2, .role = ROLE_WORKER, .index = 3 };

static struct lab lab_of(unsigned index, unsigned restart)
{
	return (struct lab){
		.engine = { &engine_ops },
		.there = { .job = 7, .attempt = 2, .role = ROLE_WORKER, .index = index, .restart = restart }
	};
}

static void a_shell_is_opened_in_the_container_that_the_replica_has_now(void **state)
{
	(void)state;
	for (unsigned restart = 0; restart <= 5; restart++) {
		struct lab lab = lab_of(3, restart);
		struct shell_terminal *terminal = NULL;
		struct error err AUTO_ERROR = { 0 };

		assert_int_equal(
			engine_shell_open(&lab.engine, &wanted, NULL, SHELL_TERMINAL, &terminal, &err),
			STATUS_OK);
		assert_int_equal(lab.asked, restart + 1);
		assert_int_equal(terminal->ops->read(terminal, NULL, 0, 0), -1);
		terminal->ops->close(terminal);
		assert_true(lab.closed);
	}
}

static void a_replica_without_a_container_has_no_shell(void **state)
{
	struct lab lab = lab_of(4, 0);
	struct shell_terminal *terminal = NULL;
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(engine_shell_open(&lab.engine, &wanted, NULL, SHELL_TERMINAL, &terminal, &err),
			 STATUS_NOT_FOUND);
	assert_string_equal(err.text, "No such container");
	assert_null(terminal);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_shell_is_opened_in_the_container_that_the_replica_has_now),
		cmocka_unit_test(a_replica_without_a_container_has_no_shell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
