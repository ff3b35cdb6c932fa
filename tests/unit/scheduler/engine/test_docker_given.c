/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_given.c, and copying files into containers: docker_link.c, docker_create.c,
 * docker_replica.c. */
#include <sys/stat.h>

#include "daemon/base/json.h"
#include "daemon/base/tree.h"
#include "scheduler/engine/docker_archive.h"
#include "scheduler/engine/docker_given.h"
#include "tests/unit/scheduler/engine/docker_testing.h"

#define MISSING                                                                                              \
	"{\"message\":\"invalid mount config for type \\\"bind\\\": bind source path does not exist: /state/seen-abcdef\"}"
#define INSPECT "/ty-t-1-master-0-a1/json"
#define PUT_MASTER                                                                                           \
	"{\"Name\":\"/ty\",\"Id\":\"c1\",\"Config\":{\"Labels\":{\"trainyard.instance\":\"t\",\"trainyard.job\":\"1\","    \
	"\"trainyard.pool\":\"master\",\"trainyard.replica\":\"master-0\",\"trainyard.attempt\":\"1\","      \
	"\"trainyard.files\":\"put\"}},\"State\":{\"Running\":false,\"ExitCode\":0,"                         \
	"\"StartedAt\":\"0001-01-01T00:00:00Z\",\"FinishedAt\":\"0001-01-01T00:00:00Z\"}}"
/* A name longer than one field of an archive. */
#define WHEEL "a_package_with_a_long_name-1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"

static char place[] = "/tmp/ty-test-given-XXXXXX";

static void file_write(const char *name, const char *data)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", place, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(data, file);
	fclose(file);
}

static int place_make(void **state)
{
	char path[256];

	(void)state;
	memcpy(strstr(place, "given-") + 6, "XXXXXX", 6);
	assert_non_null(mkdtemp(place));
	snprintf(path, sizeof(path), "%s/wheels", place);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/wheels/below", place);
	mkdir(path, 0755);
	file_write("ca.crt", "certificate");
	file_write("wheels/" WHEEL, "wheel");
	return 0;
}

static int place_remove(void **state)
{
	(void)state;
	return tree_remove(place, 1000) ? 0 : -1;
}

/* "SOURCE TARGET" pairs. @mounts ends with NULL. */
static json_t *body_make(const char *const *mounts)
{
	AUTO(json) json_t *array = json_array();

	for (; *mounts; mounts += 2)
		json_array_append_new(array, json_sprintf("%s/%s:%s", place, mounts[0], mounts[1]));

	struct replica_spec spec = spec_of();

	spec.mounts = array;
	return docker_container_body("t", &spec);
}

static void begun(void *arg, const char *name, size_t size)
{
	text_printf(arg, "[%s %zu]", name, size);
}

static void piece(void *arg, const char *data, size_t length)
{
	text_append(arg, data, length);
}

static enum status take(json_t *body, struct text *given, struct error *err)
{
	struct text bytes AUTO_TEXT = { 0 };
	const struct file_sink sink = { begun, piece, given };
	struct archive archive = { .sink = &sink, .bytes_left = 1000 };
	char reports[256];

	snprintf(reports, sizeof(reports), "%s/trials", place);
	const enum status rc = given_take(body, reports, &bytes, err);

	if (!rc) {
		assert_true(archive_take(&archive, bytes.data, bytes.length));
		assert_true(archive_end(&archive));
	}
	return rc;
}

#define WIDE                                                                                                 \
	"a-name-of-more-than-a-hundred-bytes-in-which-there-is-no-slash-so-that-it-cannot-be-parted-to-fit-into-two"

/* Fails with: name_write() that cuts a long name off; mount_take() without the label. */
static void mounts_become_an_archive(void **state)
{
	static const char *const mounts[] = {
		"ca.crt",   "/trainyard/ca.crt:ro", "wheels", "/trainyard/wheels:ro", "wide", "/wide:ro",
		"trials/1", "/var/hypertune",       NULL
	};
	AUTO(json) json_t *body = body_make(mounts);
	const json_t *labels = json_object_get(body, "Labels");
	struct text given AUTO_TEXT = { 0 };
	char path[256];

	(void)state;
	snprintf(path, sizeof(path), "%s/wide", place);
	mkdir(path, 0755);
	file_write("wide/" WIDE, "name");
	assert_true(given_is_wanted(body));
	assert_string_equal(json_text_at(labels, DOCKER_LABEL_REPORTS), "");
	assert_int_equal(take(body, &given, NULL), STATUS_OK);
	assert_string_equal(given.data, "[trainyard/ca.crt 11]certificate[trainyard/wheels/" WHEEL " 5]wheel"
					"[wide/" WIDE " 4]name[trainyard/.given 0]");
	assert_false(given_is_wanted(body));
	assert_string_equal(json_text_at(labels, DOCKER_LABEL_REPORTS), "/var/hypertune");
	assert_string_equal(json_text_at(labels, DOCKER_LABEL_FILES), DOCKER_FILES_PUT);
}

/* Fails with: mount_take() that makes an empty directory for any mount: what a program wrote to /gcs was lost. */
static void what_cannot_be_copied_is_refused(void **state)
{
	static const char *const elsewhere[] = { "gcs", "/gcs", NULL },
				 *const none[] = { "none", "/none:ro", NULL },
				 *const large[] = { "large", "/large:ro", NULL };
	static const struct {
		const char *const *mounts;
		enum status status;
		const char *text;
	} cases[] = {
		{ elsewhere, STATUS_FAILED_PRECONDITION, "the engine does not have /" },
		{ none, STATUS_FAILED_PRECONDITION,
		  "none cannot be copied into the container: No such file" },
		{ large, STATUS_RESOURCE_EXHAUSTED, "the files for the container have more than 64 MiB" },
	};
	char path[256];

	(void)state;
	file_write("large", "");
	snprintf(path, sizeof(path), "%s/large", place);
	assert_int_equal(truncate(path, ENGINE_FILES_MAX + 1), 0);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		AUTO(json) json_t *body = body_make(cases[i].mounts);
		struct text given AUTO_TEXT = { 0 };
		struct error err AUTO_ERROR = { 0 };

		assert_int_equal(take(body, &given, &err), cases[i].status);
		assert_non_null(strstr(err.text, cases[i].text));
	}
}

static void create(struct lab *lab)
{
	char reported[512];
	AUTO(json) json_t *mounts = json_array();
	struct replica_spec spec = spec_of();

	snprintf(reported, sizeof(reported), "%s/ca.crt:/trainyard/ca.crt:ro", place);
	json_array_append_new(mounts, json_string(reported));
	spec.mounts = mounts;
	lab->engine->ops->create_replica(lab->engine, &spec);
}

/* Fails with: files_look_for() that looks for the directory alone; info_done() that does not call it. */
static void an_engine_without_our_files_is_given_copies(void **state)
{
	struct lab *lab = *state;

	lab->options.state_dir = place;
	rule_set(lab, 0, (struct rule){ "/containers/create HTTP", 400, MISSING });
	rule_set(lab, 1, (struct rule){ "/containers/create?name=", 201, "{}" });
	rule_set(lab, 2, (struct rule){ "/ty-t-1-master-0-a1/archive?path=/", 200, "" });
	up(lab);
	assert_true(was_asked(lab, "/seen-"));
	create(lab);
	expect_event(lab, ENGINE_REPLICA_CREATED);
	assert_int_equal(rule_asked(lab, 1), 1);
	assert_int_equal(rule_asked(lab, 2), 1);
	assert_false(was_asked(lab, "\"/trainyard/ca.crt\""));
	rule_set(lab, 2,
		 (struct rule){ "/archive?path=/", 500, "{\"message\":\"no space left on device\"}" });
	create(lab);
	assert_string_equal(lab->events[expect_event(lab, ENGINE_REPLICA_FAILED)].text,
			    "no space left on device");
}

/* The engine has the state directory, but not the directory of an option. Fails with: create_done() that fails then. */
static void an_engine_without_one_of_them_is_given_copies(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "/containers/create?name=", 400, MISSING, .times = 1 });
	rule_set(lab, 1, (struct rule){ "/containers/create?name=", 201, "{}" });
	rule_set(lab, 2, (struct rule){ "/archive?path=/", 200, "" });
	up(lab);
	create(lab);
	expect_event(lab, ENGINE_REPLICA_CREATED);
	assert_int_equal(rule_asked(lab, 2), 1);
}

/* The daemon was killed after the create and before the copying. Fails with: start_created() that starts it all the
 * same. */
static void a_container_without_its_copies_is_made_again(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ INSPECT, 200, PUT_MASTER });
	rule_set(lab, 1, (struct rule){ "/archive?path=/trainyard/.given", 404, "{}", .times = 1 });
	rule_set(lab, 2, (struct rule){ "DELETE ", 204, "" });
	rule_set(lab, 3, (struct rule){ "/archive?path=/trainyard/.given", 200, "" });
	rule_set(lab, 4, (struct rule){ "/start", 204, "" });
	up(lab);
	lab->engine->ops->start_replica(lab->engine, &master);
	expect_event(lab, ENGINE_REPLICA_REMOVED);
	assert_int_equal(rule_asked(lab, 2), 1);
	assert_int_equal(rule_asked(lab, 4), 0);
	lab->engine->ops->start_replica(lab->engine, &master);
	expect_event(lab, ENGINE_REPLICA_STARTED);
}

/* To look for the mark, the engine mounts the container's file system, which took a fifth of the time of a job of 16 replicas.
 * Fails with: replica_start_run() without made_take(); made_take() that keeps the note: it was started twice without a look. */
static void a_container_that_was_just_made_is_not_looked_at(void **state)
{
	struct lab *lab = *state;

	lab->options.state_dir = place;
	rule_set(lab, 0, (struct rule){ "/containers/create HTTP", 400, MISSING });
	rule_set(lab, 1, (struct rule){ "/containers/create?name=", 201, "{\"Id\":\"c1\"}" });
	rule_set(lab, 2, (struct rule){ "PUT ", 200, "" });
	rule_set(lab, 3, (struct rule){ INSPECT, 200, PUT_MASTER });
	rule_set(lab, 4, (struct rule){ "/archive?path=/trainyard/.given", 200, "" });
	rule_set(lab, 5, (struct rule){ "/start", 204, "" });
	up(lab);
	create(lab);
	expect_event(lab, ENGINE_REPLICA_CREATED);
	lab->engine->ops->start_replica(lab->engine, &master);
	expect_event(lab, ENGINE_REPLICA_STARTED);
	assert_int_equal(rule_asked(lab, 3) + rule_asked(lab, 4), 0);
	lab->engine->ops->start_replica(lab->engine, &master);
	expect_event(lab, ENGINE_REPLICA_STARTED);
	assert_int_equal(rule_asked(lab, 3), 1);
	assert_int_equal(rule_asked(lab, 4), 1);
}

static int lab_and_place(void **state)
{
	return place_make(state) || lab_setup(state);
}

static int neither(void **state)
{
	return lab_teardown(state) || place_remove(state);
}

#define PLACE_TEST(test) cmocka_unit_test_setup_teardown(test, place_make, place_remove)
#define BOTH_TEST(test)  cmocka_unit_test_setup_teardown(test, lab_and_place, neither)

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		PLACE_TEST(mounts_become_an_archive),
		PLACE_TEST(what_cannot_be_copied_is_refused),
		BOTH_TEST(an_engine_without_our_files_is_given_copies),
		BOTH_TEST(an_engine_without_one_of_them_is_given_copies),
		BOTH_TEST(a_container_without_its_copies_is_made_again),
		BOTH_TEST(a_container_that_was_just_made_is_not_looked_at),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker given", tests, start, NULL);
}
