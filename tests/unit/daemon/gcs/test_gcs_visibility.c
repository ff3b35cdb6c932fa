/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_visibility.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/testing.h"

/* This process is the engine: it listens, and what it has mounted is known. */
static void what_the_engine_has_mounted_is_seen(void **state)
{
	struct sockaddr_un place = { .sun_family = AF_UNIX };
	struct error err AUTO_ERROR = { 0 };
	char engine[128];
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), nowhere[2];

	(void)state;
	snprintf(place.sun_path, sizeof(place.sun_path), "/tmp/trainyard-sight-%d", getpid());
	snprintf(engine, sizeof(engine), "unix://%s", place.sun_path);
	assert_int_equal(bind(fd, (struct sockaddr *)&place, sizeof(place)), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(gcs_visibility_check(engine, "/proc", &err), STATUS_OK);
	/* What no mount is of, as a pipe's file system, is seen by nobody. */
	assert_int_equal(pipe(nowhere), 0);
	snprintf(place.sun_path, sizeof(place.sun_path), "/proc/self/fd/%d", nowhere[0]);
	assert_int_equal(gcs_visibility_check(engine, place.sun_path, &err), STATUS_UNAVAILABLE);
	assert_non_null(strstr(err.text, "has other mounts than trainyard"));
	assert_int_equal(gcs_visibility_check(engine, "/none", &err), STATUS_UNAVAILABLE);
	close(nowhere[0]);
	close(nowhere[1]);
	close(fd);
	unlink(engine + strlen("unix://"));
}

static void an_engine_that_is_not_here_sees_nothing(void **state)
{
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(gcs_visibility_check("tcp://10.0.0.1:2375", "/proc", &err), STATUS_UNAVAILABLE);
	assert_string_equal(err.text, "the engine is not at a socket of this machine");
	assert_int_equal(gcs_visibility_check("unix:///none.sock", "/proc", &err), STATUS_UNAVAILABLE);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_engine_has_mounted_is_seen),
		cmocka_unit_test(an_engine_that_is_not_here_sees_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("gcs_visibility", tests, NULL, NULL);
}
