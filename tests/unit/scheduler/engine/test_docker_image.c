/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_image.c: errors about images that cannot be pulled. */
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/unit/scheduler/engine/docker_testing.h"

#define NO_IMAGE 404, "{\"message\":\"No such image: x\"}"

static size_t ensure(struct lab *lab, const char *image, enum engine_event_kind kind)
{
	lab->engine->ops->ensure_image(lab->engine, image);
	return expect_event(lab, kind);
}

/* Fails with: pulled images not looked at again: no id. */
static void a_missing_image_is_pulled_and_looked_at_again(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "GET /v1.41/images/r.example/x:1/json", NO_IMAGE, .times = 1 });
	rule_set(lab, 1,
		 (struct rule){ "GET /v1.41/images/r.example/x:1/json", 200, "{\"Id\":\"sha256:7\"}" });
	rule_set(lab, 2,
		 (struct rule){ "/images/create?fromImage=r.example/x&tag=1 ", 200,
				"{\"status\":\"Pulling fs layer\",\"id\":\"a\"}\n"
				"{\"status\":\"Status: Downloaded newer image\"}\n" });
	up(lab);
	assert_string_equal(lab->events[ensure(lab, "r.example/x:1", ENGINE_IMAGE_READY)].text, "sha256:7");
	assert_string_equal(lab->events[expect_event(lab, ENGINE_IMAGE_PROGRESS)].text,
			    "Pulling r.example/x:1");
	assert_int_equal(rule_asked(lab, 2), 1);
	assert_false(was_asked(lab, "X-Registry-Auth"));
}

/* Engines answer 500 for most errors of a registry; a job's error should have the right status. Fails with: pull_status()
 * without its table: all INTERNAL. */
static void a_failed_pull_says_what_the_registry_said(void **state)
{
	static const struct {
		struct rule rule;
		enum status status;
		const char *text;
	} failures[] = {
		{ { "/images/create", 500, "{\"message\":\"manifest unknown\"}" },
		  STATUS_NOT_FOUND,
		  "manifest unknown" },
		{ { "/images/create", 404, "{\"message\":\"pull access denied for x\"}" },
		  STATUS_NOT_FOUND,
		  "access denied" },
		{ { "/images/create", 500, "{\"message\":\"denied: no\"}" },
		  STATUS_PERMISSION_DENIED,
		  "denied: no" },
		{ { "/images/create", 500, "{\"message\":\"Head: no basic auth credentials\"}" },
		  STATUS_UNAUTHENTICATED,
		  "no basic auth" },
		{ { "/images/create", 500, "{\"message\":\"dial tcp: lookup r.example\"}" },
		  STATUS_INTERNAL,
		  "dial tcp" },
		{ { "/images/create", 200,
		    "{\"status\":\"x\"}\n{\"errorDetail\":{\"message\":\"unauthorized: no\"}}\n" },
		  STATUS_UNAUTHENTICATED,
		  "unauthorized: no" },
		{ { "/images/create", 200,
		    "{\"errorDetail\":{\"message\":\"filesystem layer verification failed\"}}" },
		  STATUS_INTERNAL,
		  "layer verification failed" },
		{ { "/images/create", 0 }, STATUS_UNAVAILABLE, "" },
		{ { "/images/create", 200, "{\"status\":\"Pulling", .cut = true }, STATUS_UNAVAILABLE, "" },
	};
	struct lab *lab = *state;

	up(lab);
	rule_set(lab, 0, (struct rule){ "GET /v1.41/images/x/json", NO_IMAGE });
	for (size_t i = 0; i < COUNT_OF(failures); i++) {
		size_t failed;

		rule_set(lab, 1, failures[i].rule);
		failed = ensure(lab, "x", ENGINE_IMAGE_FAILED);
		assert_int_equal(lab->events[failed].status, failures[i].status);
		assert_non_null(strstr(lab->events[failed].text,
				       "the image x is not in this engine and cannot be pulled: "));
		assert_non_null(strstr(lab->events[failed].text, failures[i].text));
	}
	/* The pull succeeded, but the image does not exist. */
	rule_set(lab, 1, (struct rule){ "/images/create", 200, "" });
	assert_int_equal(lab->events[ensure(lab, "x", ENGINE_IMAGE_FAILED)].status, STATUS_NOT_FOUND);
}

/* Fails with: is_near() false, or true; near_write() that names no option. */
static void a_missing_image_is_told_with_its_near_names(void **state)
{
	static const struct {
		const char *image, *text;
	} cases[] = {
		{ "gcr.io/p/train:9",
		  "; did you mean train:dev, local/train:2? (--image-map gcr.io/p/train:9=train:dev runs that one in "
		  "its place)" },
		{ "busybx", "; did you mean busybox:1? (--image-map busybx=busybox:1 runs" },
		{ "nosuch@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		  "; bring it with docker load" },
	};
	struct lab *lab = *state;

	rule_set(lab, 0,
		 (struct rule){ "/images/json", 200,
				"[7,{\"RepoTags\":null},{\"RepoTags\":[\"train:dev\",\"local/train:2\",8]},"
				"{\"RepoTags\":[\"busybox:1\"]}]" });
	rule_set(lab, 1, (struct rule){ "/images/", NO_IMAGE });
	for (int offline = 0; offline < 2; offline++) {
		lab->options.offline = offline;
		lab_open(lab);
		expect_event(lab, ENGINE_UP);
		for (size_t i = 0; i < COUNT_OF(cases); i++) {
			const char *text = lab->events[ensure(lab, cases[i].image, ENGINE_IMAGE_FAILED)].text;

			if (!strstr(text, cases[i].text) || !strstr(text, cases[i].image) ||
			    !strstr(text,
				    offline ? "--offline" : "is not in this engine and cannot be pulled"))
				fail_msg("%s", text);
		}
		lab_close(lab);
	}
}

static void a_look_that_fails_is_no_missing_image(void **state)
{
	struct lab *lab = *state;
	size_t failed;

	rule_set(lab, 0, (struct rule){ "/images/", 500, "{\"message\":\"layer store is broken\"}" });
	up(lab);
	failed = ensure(lab, "x", ENGINE_IMAGE_FAILED);
	assert_int_equal(lab->events[failed].status, STATUS_INTERNAL);
	assert_string_equal(lab->events[failed].text, "layer store is broken");
	assert_false(was_asked(lab, "/images/create"));
}

static void what_no_registry_can_have_is_not_pulled(void **state)
{
	static const char id[] = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	struct lab *lab = *state;

	up(lab);
	assert_int_equal(lab->events[ensure(lab, id, ENGINE_IMAGE_FAILED)].status, STATUS_NOT_FOUND);
	assert_int_equal(lab->events[ensure(lab, "a b", ENGINE_IMAGE_FAILED)].status,
			 STATUS_INVALID_ARGUMENT);
	assert_false(was_asked(lab, "/images/create"));
}

/* Fails with: missing() without offline: it pulled. */
static void offline_says_how_to_bring_the_image(void **state)
{
	struct lab *lab = *state;
	size_t failed;

	lab->options.offline = true;
	up(lab);
	failed = ensure(lab, "x", ENGINE_IMAGE_FAILED);
	assert_int_equal(lab->events[failed].status, STATUS_NOT_FOUND);
	assert_non_null(strstr(lab->events[failed].text, "docker build -t x"));
	assert_false(was_asked(lab, "/images/create"));
}

/* Fails with: task_find() that finds none: two pulls of one image. */
static void many_who_want_one_image_wait_for_one_pull(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "GET /v1.41/images/x/json", NO_IMAGE, .times = 1 });
	rule_set(lab, 1, (struct rule){ "GET /v1.41/images/x/json", 200, "{\"Id\":\"sha256:7\"}" });
	rule_set(lab, 2, (struct rule){ "/images/create", HOLD });
	up(lab);
	lab->engine->ops->ensure_image(lab->engine, "x");
	expect_asked(lab, 2, 1);
	lab->engine->ops->ensure_image(lab->engine, "x");
	settle(lab);
	rule_set(lab, 2, (struct rule){ "/images/create", 200, "" });
	expect_event(lab, ENGINE_IMAGE_READY);
	assert_int_equal(rule_asked(lab, 2), 1);
	assert_int_equal(events_count(lab, ENGINE_IMAGE_READY), 1);
}

static void no_engine_no_image(void **state)
{
	struct lab *lab = *state;
	size_t failed;

	rule_set(lab, 0, (struct rule){ "/_ping", 500, "{\"message\":\"starting up\"}" });
	lab_open(lab);
	expect_event(lab, ENGINE_DOWN);
	failed = ensure(lab, "x", ENGINE_IMAGE_FAILED);
	assert_int_equal(lab->events[failed].status, STATUS_UNAVAILABLE);
	assert_string_equal(lab->events[failed].text, "starting up");
}

/* ---- credentials ---- */

struct config_dir {
	char path[64], file[96];
};

static void config_write(struct config_dir *dir, const char *config)
{
	FILE *file;

	snprintf(dir->path, sizeof(dir->path), "/tmp/ty-test-image-XXXXXX");
	assert_non_null(mkdtemp(dir->path));
	snprintf(dir->file, sizeof(dir->file), "%s/config.json", dir->path);
	file = fopen(dir->file, "w");
	assert_non_null(file);
	fputs(config, file);
	fclose(file);
}

static void config_remove(struct config_dir *dir)
{
	unlink(dir->file);
	rmdir(dir->path);
}

/* Fails with: .registry_auth left out of the pull. */
static void credentials_go_to_the_engine_with_the_pull(void **state)
{
	struct lab *lab = *state;
	struct config_dir dir;

	config_write(&dir, "{\"auths\":{\"r.example\":{\"auth\":\"dTpw\"}}}"); /* u:p */
	lab->options.registry_config = dir.path;
	rule_set(lab, 0, (struct rule){ "GET /v1.41/images/r.example/x/json", NO_IMAGE, .times = 1 });
	rule_set(lab, 1, (struct rule){ "GET /v1.41/images/r.example/x/json", 200, "{\"Id\":\"sha256:7\"}" });
	rule_set(lab, 2, (struct rule){ "/images/create", 200, "" });
	up(lab);
	ensure(lab, "r.example/x", ENGINE_IMAGE_READY);
	assert_true(was_asked(lab, "X-Registry-Auth: eyJ")); /* {" */
	config_remove(&dir);
}

static void unreadable_credentials_are_named_when_the_pull_fails(void **state)
{
	struct lab *lab = *state;
	struct config_dir dir;
	size_t failed;

	config_write(&dir, "{\"auths\":");
	lab->options.registry_config = dir.path;
	rule_set(lab, 0, (struct rule){ "GET /v1.41/images/", NO_IMAGE });
	rule_set(lab, 1, (struct rule){ "/images/create", 500, "{\"message\":\"denied\"}" });
	up(lab);
	failed = ensure(lab, "r.example/x", ENGINE_IMAGE_FAILED);
	assert_int_equal(lab->events[failed].status, STATUS_PERMISSION_DENIED);
	assert_non_null(strstr(lab->events[failed].text, "denied; credentials: "));
	config_remove(&dir);
}

/* Fails with: images_close() without its word to the thread: it waited for the helper. */
static void a_helper_that_hangs_does_not_hold_up_a_close(void **state)
{
	struct lab *lab = *state;
	struct config_dir dir;
	char helper[128], started[128], finished[128], script[256];
	const char *path_before = getenv("PATH");
	char before[4096], path[4200];
	FILE *file;
	int fd;

	snprintf(before, sizeof(before), "%s", path_before ? path_before : "");
	config_write(&dir, "{\"credsStore\":\"hangs\"}");
	snprintf(helper, sizeof(helper), "%s/docker-credential-hangs", dir.path);
	snprintf(started, sizeof(started), "%s/started", dir.path);
	assert_int_equal(mkfifo(started, 0600), 0);
	file = fopen(helper, "w");
	assert_non_null(file);
	snprintf(script, sizeof(script), "#!/bin/sh\necho >%s\nsleep 20\necho >%s/finished\n", started,
		 dir.path);
	fputs(script, file);
	fclose(file);
	chmod(helper, 0700);
	snprintf(path, sizeof(path), "%s:%s", dir.path, before);
	setenv("PATH", path, 1);
	lab->options.registry_config = dir.path;
	rule_set(lab, 0, (struct rule){ "GET /v1.41/images/", NO_IMAGE });
	up(lab);
	lab->engine->ops->ensure_image(lab->engine, "r.example/x");
	fd = open(started, O_RDONLY | O_CLOEXEC); /* waits until the helper runs */
	lab_close(lab);
	close(fd);
	setenv("PATH", before, 1);
	assert_int_equal(events_count(lab, ENGINE_IMAGE_FAILED), 0);
	assert_false(was_asked(lab, "/images/create"));
	snprintf(finished, sizeof(finished), "%s/finished", dir.path);
	assert_int_equal(access(finished, F_OK), -1);
	unlink(helper);
	unlink(started);
	config_remove(&dir);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(a_missing_image_is_pulled_and_looked_at_again),
		LAB_TEST(a_failed_pull_says_what_the_registry_said),
		LAB_TEST(a_missing_image_is_told_with_its_near_names),
		LAB_TEST(a_look_that_fails_is_no_missing_image),
		LAB_TEST(what_no_registry_can_have_is_not_pulled),
		LAB_TEST(offline_says_how_to_bring_the_image),
		LAB_TEST(many_who_want_one_image_wait_for_one_pull),
		LAB_TEST(no_engine_no_image),
		LAB_TEST(credentials_go_to_the_engine_with_the_pull),
		LAB_TEST(unreadable_credentials_are_named_when_the_pull_fails),
		LAB_TEST(a_helper_that_hangs_does_not_hold_up_a_close),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker image", tests, start, NULL);
}
