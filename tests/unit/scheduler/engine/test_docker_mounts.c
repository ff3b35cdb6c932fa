/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_mounts.h"
#include "scheduler/engine/docker_reach.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/asked_server.h"
#include "tests/unit/testing.h"

/* Asks an engine that gives this answer. */
static enum status ask(const char *status, const char *words, char ret_asked[1024], struct error *err)
{
	char path[64], url[80], answer[512], body[256];

	snprintf(path, sizeof(path), "/tmp/ty-test-place-%d.sock", (int)getpid());
	snprintf(url, sizeof(url), "unix://%s", path);
	snprintf(body, sizeof(body), "{\"message\":\"%s\"}", words);
	snprintf(answer, sizeof(answer),
		 "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
		 status, strlen(body), body);
	asked_server_open(path, answer, strlen(answer));
	const enum status rc = docker_has_path(url, "/state/mount/gcs/.sign", err);

	snprintf(ret_asked, 1024, "%s", asked_take());
	asked_server_close();
	unlink(path);
	return rc;
}

/* Source: answers of Docker 20.10 and 28.5 */
static void the_words_of_a_refusal_tell_whether_the_engine_has_a_path(void **state)
{
	struct error err AUTO_ERROR = { 0 };
	char asked[1024];

	(void)state;
	assert_int_equal(ask("400 Bad Request", "No command specified", asked, &err), STATUS_OK);
	assert_non_null(strstr(asked, "POST /containers/create"));
	assert_non_null(strstr(asked, "\"Source\":\"/state/mount/gcs/.sign\""));
	assert_non_null(strstr(asked, "\"Image\":\"\""));
	assert_int_equal(ask("400 Bad Request",
			     "invalid mount config for type \\\"bind\\\": bind source path does not exist: "
			     "/state/mount/gcs/.sign",
			     asked, &err),
			 STATUS_NOT_FOUND);
	assert_non_null(strstr(err.text, "does not exist: /state/mount/gcs/.sign"));
}

static void an_engine_that_does_not_answer_tells_nothing(void **state)
{
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(docker_has_path("unix:///none.sock", "/proc", &err), STATUS_UNAVAILABLE);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_words_of_a_refusal_tell_whether_the_engine_has_a_path),
		cmocka_unit_test(an_engine_that_does_not_answer_tells_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker_mounts", tests, NULL, NULL);
}
