/* SPDX-License-Identifier: Apache-2.0 */
/* Copies files into replicas, and out of them. */
#include "tests/integration/engine_contract.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/archive.h"
#include "daemon/base/clock.h"
#include "daemon/base/text.h"
#include "tests/integration/engine_bench.h"

/* A name longer than the field of an archive's header. */
#define LONG_NAME                                                                                            \
	"a-name-of-more-bytes-than-the-head-of-an-archive-has-room-for-which-takes-attributes-beside-it-"    \
	"so-that-none-of-its-end-is-lost"

static void file_begun(void *arg, const char *name, size_t size)
{
	text_printf(arg, "[%s %zu]", name, size);
}

static void file_piece(void *arg, const char *data, size_t length)
{
	text_append(arg, data, length);
}

static enum status get(struct bench *bench, const char *path, size_t bytes_max, struct text *text)
{
	text_clear(text);
	text_puts(text, "");
	return bench->engine->ops->get_files(bench->engine, &master, path, bytes_max,
					     &(struct file_sink){ file_begun, file_piece, text }, NULL);
}

/* Fails with: head_read() that takes no data of other types; padding_left left out; attributes_read() left out. */
static void files_go_into_a_container_and_come_out_of_it(void **state)
{
	static const struct engine_file files[] = { { "/trainyard/ca.crt", "certificate\n", 12, 0444 },
						    { "/given/empty", "", 0, 0400 } };
	struct bench *bench = *state;
	struct network_status network = network_make(bench, 1);
	const int64_t until_us = clock_mono_us(&system_clock) + WAIT_S * INT64_C(1000000);
	struct text text AUTO_TEXT = { 0 };

	replica_make(
		bench, &master, &network,
		"cat /trainyard/ca.crt && test ! -s /given/empty && mkdir -p /var/out"
		" && echo first >/var/out/one && ln -s one /var/out/link && echo last >/var/out/" LONG_NAME
		" && sleep 1000");
	assert_int_equal(bench->engine->ops->put_files(bench->engine, &master, files, 2, NULL), STATUS_OK);
	replica_run(bench, &master);
	while ((get(bench, "/var/out/" LONG_NAME, 100, &text) || !strstr(text.data, "last")) &&
	       clock_mono_us(&system_clock) < until_us)
		poll(NULL, 0, 50);
	assert_string_equal(text.data, "[" LONG_NAME " 5]last\n");
	assert_int_equal(get(bench, "/var/out", 11, &text), STATUS_OK);
	assert_non_null(strstr(text.data, "[out/one 6]first\n"));
	assert_non_null(strstr(text.data, "[out/" LONG_NAME " 5]last\n"));
	assert_null(strstr(text.data, "link"));
	assert_int_equal(get(bench, "/var/out", 10, &text), STATUS_RESOURCE_EXHAUSTED);
	assert_int_equal(get(bench, "/var/none", 10, &text), STATUS_NOT_FOUND);
	bench->engine->ops->stop_replica(bench->engine, &master, 0);
	expect_event(bench, ENGINE_REPLICA_EXITED, &master, 1);
	assert_int_equal(get(bench, "/trainyard", 12, &text), STATUS_OK);
	assert_string_equal(text.data, "[trainyard/ca.crt 12]certificate\n");
	replica_drop(bench, &master);
	assert_int_equal(get(bench, "/trainyard", 12, &text), STATUS_NOT_FOUND);
	assert_int_equal(bench->engine->ops->put_files(bench->engine, &master, files, 2, NULL),
			 STATUS_NOT_FOUND);
}

static void files_have_bounds(void **state)
{
	static const struct engine_file strange[] = { { "relative", "", 0, 0444 },
						      { "/", "", 0, 0444 },
						      { "/" LONG_NAME, "", 0, 0444 },
						      { "/large", "", (size_t)ENGINE_FILES_MAX + 1, 0444 } };
	struct bench *bench = *state;

	for (size_t i = 0; i < COUNT_OF(strange); i++)
		assert_int_equal(bench->engine->ops->put_files(bench->engine, &master, &strange[i], 1, NULL),
				 i == 3 ? STATUS_RESOURCE_EXHAUSTED : STATUS_INVALID_ARGUMENT);
}

const struct CMUnitTest contract_files[] = {
	ENGINE_TEST(files_go_into_a_container_and_come_out_of_it),
	ENGINE_TEST(files_have_bounds),
	{ .name = NULL },
};
