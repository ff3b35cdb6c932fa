/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/instance_lock.h"
#include "tests/unit/testing.h"

/* A name that only this process uses, because tests run at the same time. */
static const char *instance(void)
{
	static char name[INSTANCE_MAX + 1];

	snprintf(name, sizeof(name), "test%d", (int)getpid());
	return name;
}

/* Fails with: instance_valid() without INSTANCE_MAX. */
static void names_are_of_letters_and_digits(void **state)
{
	(void)state;
	assert_true(instance_valid("k3x9ab2f"));
	assert_true(instance_valid("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
	assert_false(instance_valid("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
	assert_false(instance_valid(""));
	assert_false(instance_valid("A"));
	assert_false(instance_valid("a/b"));
}

/* Fails with: instance_lock_take() that succeeds whatever bind() says; instance_lock_seen() that is always true. */
static void one_process_at_a_time_has_it(void **state)
{
	struct error err AUTO_ERROR = { 0 };
	int first = -1, second = -1;

	(void)state;
	assert_false(instance_lock_seen(instance()));
	assert_int_equal(instance_lock_take(instance(), INSTANCE_ALONE, &first, &err), STATUS_OK);
	assert_true(instance_lock_seen(instance()));
	assert_int_equal(instance_lock_take(instance(), INSTANCE_ALONE, &second, &err),
			 STATUS_FAILED_PRECONDITION);
	assert_int_equal(second, -1);
	close(first);
	assert_false(instance_lock_seen(instance()));
}

/* Fails with: address_make() that takes four letters of the name. */
static void nearly_the_same_name_is_another(void **state)
{
	char longer[INSTANCE_MAX + 2];
	int fd = -1;

	(void)state;
	snprintf(longer, sizeof(longer), "%s0", instance());
	assert_int_equal(instance_lock_take(longer, INSTANCE_ALONE, &fd, NULL), STATUS_OK);
	assert_false(instance_lock_seen(instance()));
	close(fd);
}

/* Fails with: instance_lock_take() that looks for no other holder once its own name is bound. */
static void a_name_below_counts_as_well(void **state)
{
	struct error err AUTO_ERROR = { 0 };
	int first = -1, second = -1, third = -1;

	(void)state;
	assert_int_equal(instance_lock_take(instance(), INSTANCE_ALONE, &first, &err), STATUS_OK);
	assert_int_equal(instance_lock_take(instance(), INSTANCE_BESIDE_OTHER_USERS, &second, &err),
			 STATUS_FAILED_PRECONDITION);
	assert_int_equal(instance_lock_take(instance(), INSTANCE_BESIDE_ALL, &second, &err), STATUS_OK);
	close(first);
	assert_true(instance_lock_seen(instance()));
	assert_int_equal(instance_lock_take(instance(), INSTANCE_ALONE, &third, &err),
			 STATUS_FAILED_PRECONDITION);
	close(second);
	assert_false(instance_lock_seen(instance()));
}

/* Fails with: holder_refuse() without socket_owner_write(). */
static void the_holder_is_named(void **state)
{
	struct error err AUTO_ERROR = { 0 };
	int first = -1, second = -1;
	char wanted[64];

	(void)state;
	/* The kernel keeps 15 bytes of a program's name. */
	snprintf(wanted, sizeof(wanted), "process %d (%.15s) of user %u", (int)getpid(), "test_instance_lock",
		 (unsigned)geteuid());
	assert_int_equal(instance_lock_take(instance(), INSTANCE_ALONE, &first, &err), STATUS_OK);
	assert_int_equal(instance_lock_take(instance(), INSTANCE_ALONE, &second, &err),
			 STATUS_FAILED_PRECONDITION);
	assert_non_null(strstr(err.text, wanted));
	close(first);
}

/* Fails with: as above. */
static void it_goes_with_its_process(void **state)
{
	const char *name = instance();
	int ready[2];
	char byte;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		int fd;

		if (instance_lock_take(name, INSTANCE_ALONE, &fd, NULL) || write(ready[1], "x", 1) != 1)
			_exit(1);
		alarm(60); /* ends the test in any case */
		for (;;)
			pause();
	}
	close(ready[1]); /* otherwise the end of a failed child would not be noticed */
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_true(instance_lock_seen(name));
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_false(instance_lock_seen(name));
	close(ready[0]);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_of_letters_and_digits),
		cmocka_unit_test(one_process_at_a_time_has_it),
		cmocka_unit_test(nearly_the_same_name_is_another),
		cmocka_unit_test(it_goes_with_its_process),
		/* These read names of abstract sockets. */
		cmocka_unit_test(a_name_below_counts_as_well),
		cmocka_unit_test(the_holder_is_named),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return _cmocka_run_group_tests("presence", tests, COUNT_OF(tests) - (is_emulated() ? 2 : 0), NULL, NULL);
}
