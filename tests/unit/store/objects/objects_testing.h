/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/store/objects/objects_testing.h: buckets and objects in a directory of their own, on a clock of their own. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/objects/objects.h"
#include "store/objects/objects_parts.h"
#include "store/objects/post_commit.h"
#include "tests/unit/testing.h"

struct yard {
	char dir[64];
	struct objects *objects;
	struct clock clock;
	int64_t now_ns;
	struct error err;
};

#define YARD(state) struct yard *yard = *(state)

/* 2026-11-20T00:00:00Z */
#define START_NS INT64_C(1795132800000000000)

static const struct conditions no_conditions = CONDITIONS_NONE;

static int64_t yard_wall_ns(void *arg)
{
	return __atomic_load_n(&((struct yard *)arg)->now_ns, __ATOMIC_RELAXED);
}

/* The store's threads may be looking. */
static inline void yard_step(struct yard *yard, int64_t by_ns)
{
	__atomic_add_fetch(&yard->now_ns, by_ns, __ATOMIC_RELAXED);
}

static int64_t yard_mono_us(void *arg)
{
	return yard_wall_ns(arg) / 1000;
}

static __attribute__((unused)) void assert_ok(struct yard *yard, enum status rc, int line)
{
	if (rc)
		fail_msg("line %d: %s: %s", line, status_name(rc), yard->err.text ? yard->err.text : "");
}
#define OK(call) assert_ok(yard, call, __LINE__)
/* Fails so, in these words. */
#define REFUSED(call, status, words)                                                                         \
	do {                                                                                                 \
		assert_int_equal(call, status);                                                              \
		assert_string_equal(yard->err.text, words);                                                  \
	} while (0)
#define PRECONDITION "At least one of the pre-conditions you specified did not hold."

static __attribute__((unused)) void yard_use(struct yard *yard, const char *auto_project)
{
	const struct objects_options options = { yard->dir, &yard->clock, auto_project };

	OK(objects_new(&options, &yard->objects, &yard->err));
}

static __attribute__((unused)) void yard_reopen(struct yard *yard)
{
	objects_free(yard->objects);
	yard->objects = NULL;
	yard_use(yard, "demo");
}

static __attribute__((unused)) int yard_open_at(void **state, const char *pattern)
{
	struct yard *yard = calloc(1, sizeof(*yard));

	snprintf(yard->dir, sizeof(yard->dir), "%s", pattern);
	if (!mkdtemp(yard->dir))
		return -1;
	yard->now_ns = START_NS;
	yard->clock = (struct clock){ yard_wall_ns, yard_mono_us, yard };
	*state = yard;
	yard_use(yard, "demo");
	return 0;
}

static __attribute__((unused)) int yard_open(void **state)
{
	return yard_open_at(state, "/tmp/trainyard-test-XXXXXX");
}

static int path_remove(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
	(void)info, (void)kind, (void)walk;
	return remove(path);
}

static __attribute__((unused)) int yard_close(void **state)
{
	YARD(state);

	objects_free(yard->objects);
	error_deinit(&yard->err);
	nftw(yard->dir, path_remove, 64, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	free(yard);
	return 0;
}

/* What is left to be done to files is done. */
static __attribute__((unused)) void yard_settle(struct yard *yard)
{
	OK(objects_use(yard->objects, &yard->err));
	post_commit_wait(yard->objects->post_commit);
}

static size_t files_counted;

static __attribute__((unused)) int file_count(const char *path, const struct stat *info, int kind,
					      struct FTW *walk)
{
	(void)path, (void)info, (void)walk;
	files_counted += kind == FTW_F || kind == FTW_SL;
	return 0;
}

/* The files below a directory of the state directory. */
static __attribute__((unused)) size_t files_below(struct yard *yard, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", yard->dir, name);
	files_counted = 0;
	nftw(path, file_count, 64, FTW_PHYS);
	return files_counted;
}

static __attribute__((unused)) struct object_target target_of(const char *name)
{
	return (struct object_target){ .bucket = "bucket", .name = name, .conditions = CONDITIONS_NONE };
}

static __attribute__((unused)) enum status target_put(struct yard *yard, const struct object_target *target,
						      const void *bytes, size_t length,
						      struct object *ret_object)
{
	AUTO(upload) struct upload *upload = NULL;
	struct object made AUTO_OBJECT = { 0 };
	enum status rc = upload_begin(yard->objects, target, &upload, &yard->err);

	if (!rc)
		rc = upload_write(upload, bytes, length, &yard->err);
	if (!rc)
		rc = upload_finish(upload, &made, &yard->err);
	if (rc || !ret_object)
		return rc;
	*ret_object = made;
	made = (struct object){ 0 };
	return rc;
}

/* An object with a text; its generation. */
static __attribute__((unused)) int64_t text_put(struct yard *yard, const char *name, const char *text)
{
	struct object_target target = target_of(name);
	struct object object AUTO_OBJECT = { 0 };

	OK(target_put(yard, &target, text, strlen(text), &object));
	return object.generation;
}

/* All bytes of an object, with a NUL behind them; the caller frees. */
static __attribute__((unused)) char *bytes_get(struct yard *yard, const char *name, size_t *ret_length)
{
	AUTO(object_reader) struct object_reader *reader = NULL;
	size_t size, length = 0;
	char *bytes;

	OK(object_open(yard->objects, "bucket", name, 0, &reader, &yard->err));
	size = (size_t)object_reader_object(reader)->size_bytes;
	bytes = malloc(size + 1);
	assert_non_null(bytes);
	for (;;) {
		ssize_t got =
			object_read(reader, (int64_t)length, bytes + length, size + 1 - length, &yard->err);

		assert_true(got >= 0);
		if (got == 0)
			break;
		length += (size_t)got;
	}
	assert_int_equal(length, size);
	bytes[length] = '\0';
	*ret_length = length;
	return bytes;
}

#define assert_text(yard, name, expected)                                                                    \
	do {                                                                                                 \
		size_t length_;                                                                              \
		AUTO(string) char *text_ = bytes_get(yard, name, &length_);                                  \
		assert_string_equal(text_, expected);                                                        \
	} while (0)

/* Whether there is an object. */
static __attribute__((unused)) bool is_there(struct yard *yard, const char *name)
{
	struct object object AUTO_OBJECT = { 0 };
	struct error err AUTO_ERROR = { 0 };
	enum status rc = object_get(yard->objects, "bucket", name, 0, &object, &err);

	assert_true(rc == STATUS_OK || rc == STATUS_NOT_FOUND);
	return !rc;
}
