/* SPDX-License-Identifier: Apache-2.0 */
/* The script for storage.db and the files of objects. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/crc32c.h"
#include "store/objects/objects.h"
#include "store/objects/objects_parts.h"
#include "store/objects/post_commit.h"
#include "tests/crash/crash_world.h"

enum { PROMISE = 4 }; /* the number of a step */
enum { SMALL = 100, MIDDLE = 70 * 1000, LARGE = 200 * 1000 };

static const struct conditions no_conditions = CONDITIONS_NONE;

static bool objects_open(struct world *world)
{
	const struct objects_options options = { world->dir, &world->clock, "demo", false };
	enum status rc = objects_new(&options, &world->objects, &world->err);

	if (!rc)
		rc = objects_prepare(world->objects, &world->err);
	return rc == STATUS_OK;
}

static void objects_close(struct world *world)
{
	objects_free(world->objects);
	world->objects = NULL;
}

/* ---- steps ---- */

static void bytes_make(char *bytes, size_t length, char kind)
{
	for (size_t i = 0; i < length; i++)
		bytes[i] = (char)(kind + i % 23);
}

static struct object_target target_of(const char *name)
{
	return (struct object_target){
		.bucket = "bucket", .name = name, .conditions = CONDITIONS_NONE, .content_type = "x/y"
	};
}

static enum status object_put(struct world *world, const char *name, size_t length, char kind)
{
	const struct object_target target = target_of(name);
	static char bytes[LARGE];
	AUTO(upload) struct upload *upload = NULL;
	struct object object AUTO_OBJECT = { 0 };
	enum status rc = upload_begin(world->objects, &target, &upload, &world->err);

	bytes_make(bytes, length, kind);
	/* Written in pieces, as they arrive. */
	for (size_t done = 0; !rc && done < length; done += MIDDLE)
		rc = upload_write(upload, bytes + done, length - done < MIDDLE ? length - done : MIDDLE,
				  &world->err);
	return rc ? rc : upload_finish(upload, &object, &world->err);
}

static enum status object_session(struct world *world, const char *name)
{
	const struct object_target target = target_of(name);
	static char bytes[MIDDLE];
	char id[SESSION_ID_SIZE];
	struct upload *upload = NULL;
	struct object object AUTO_OBJECT = { 0 };
	int64_t received = 0;
	enum status rc = session_begin(world->objects, &target, -1, id, &world->err);

	bytes_make(bytes, sizeof(bytes), 's');
	for (int turn = 0; turn < 2 && !rc; turn++) {
		rc = session_resume(world->objects, id, received, &upload, &world->err);
		if (!rc)
			rc = upload_write(upload, bytes, sizeof(bytes), &world->err);
		if (!rc && turn == 0) {
			rc = session_park(upload, &received, &world->err);
			upload = NULL;
		}
	}
	if (!rc)
		rc = upload_finish(upload, &object, &world->err);
	upload_free(upload);
	return rc;
}

/* The answer that a tuning job would get. The run that is not killed is the first; later runs must get the same. */
static int64_t promised;

static enum status generation_promise(struct world *world)
{
	const int64_t next = objects_next_generation(world->objects);

	if (!promised)
		promised = next;
	return next ? STATUS_OK : error_set(&world->err, STATUS_INTERNAL, NULL, "no generation is promised");
}

static enum status step_run(struct world *world, int step)
{
	const struct compose_source sources[] = { { "a", 0, -1 }, { "dir/b", 0, -1 } };
	const struct object_target copy = target_of("dir/copy"), whole = target_of("whole");
	struct object object AUTO_OBJECT = { 0 };

	switch (step) {
	case 0:
		return bucket_insert(world->objects, "demo", "bucket", NULL, NULL, &world->err);
	case 1:
		return object_put(world, "a", SMALL, 'a');
	case 2:
		return object_put(world, "dir/b", LARGE, 'b');
	case 3:
		return object_put(world, "a", MIDDLE, 'A'); /* a version that replaces the first */
	case PROMISE:
		return generation_promise(world);
	case 5:
		return object_copy(world->objects, "bucket", "a", 0, &no_conditions, &copy, true, &object,
				   &world->err);
	case 6:
		return object_compose(world->objects, sources, 2, &whole, &object, &world->err);
	case 7:
		return object_session(world, "session");
	case 8:
		return object_delete(world->objects, "bucket", "dir/b", 0, &no_conditions, &world->err);
	case 9:
		return object_update(world->objects, "bucket", "a", 0, &no_conditions, "z/z", NULL, &object,
				     &world->err);
	default:
		return bucket_insert(world->objects, "demo", "other", NULL, NULL, &world->err);
	}
}

static bool objects_repeats(int step)
{
	return step == PROMISE;
}

static bool objects_run(struct world *world, int step)
{
	return step_run(world, step) == STATUS_OK;
}

/* ---- looks ---- */

static char *objects_look(struct world *world)
{
	struct text text AUTO_TEXT = { 0 };

	rows_print(world, "storage.db", "SELECT name, project, metageneration FROM bucket ORDER BY name",
		   &text);
	rows_print(
		world, "storage.db",
		"SELECT name, metageneration, size_bytes, content_type, metadata, crc32c, hex(md5), component_count"
		" FROM object ORDER BY name",
		&text);
	if (!text.data)
		text_puts(&text, "");
	return text_take(&text);
}

static bool bytes_check(struct world *world, const struct object *object)
{
	AUTO(object_reader) struct object_reader *reader = NULL;
	static char bytes[2 * LARGE];
	ssize_t got = 0;
	size_t length = 0;
	enum status rc = object_open(world->objects, "bucket", object->name, 0, &reader, &world->err);

	while (!rc && (got = object_read(reader, (int64_t)length, bytes + length, sizeof(bytes) - length,
					 &world->err)) > 0)
		length += (size_t)got;
	if (world->power_lost &&
	    (rc == STATUS_DATA_LOSS || (got < 0 && world->err.status == STATUS_DATA_LOSS)))
		return true;
	if (rc || got < 0)
		return complain(world, "%s cannot be read: %s", object->name, world->err.text);
	if (length != (size_t)object->size_bytes)
		return complain(world, "%s is short", object->name);
	world->facts++;
	return world->power_lost || crc32c_extend(0, bytes, length) == object->crc32c ||
	       complain(world, "the bytes of %s are others", object->name);
}

static bool contents_check(struct world *world)
{
	const struct object_query query = { .bucket = "bucket", .most = 100 };
	struct object_page page AUTO_OBJECT_PAGE = { 0 };

	if (object_list(world->objects, &query, &page, &world->err))
		return true; /* there is no bucket yet */
	for (size_t i = 0; i < page.count; i++)
		if (!bytes_check(world, &page.objects[i]))
			return false;
	return true;
}

static bool count_check(struct world *world, const char *directory, const char *sql)
{
	unsigned found = files_below(world, directory);
	int64_t wanted = number_read(world, "storage.db", sql);

	return found == wanted ||
	       complain(world, "%s has %u files, not %lld", directory, found, (long long)wanted);
}

/* A session has no file until its first bytes arrive. */
static bool uploads_check(struct world *world)
{
	unsigned found = files_below(world, "uploads");
	int64_t most = number_read(world, "storage.db", "SELECT count(*) FROM session WHERE answer IS NULL");

	return found <= most || complain(world, "%u files for %lld sessions", found, (long long)most);
}

/* state.db keeps its promise across a power loss. */
static bool promise_check(struct world *world, int answered)
{
	const int64_t last =
		number_read(world, "storage.db", "SELECT value FROM meta WHERE name = 'generation'");

	return answered <= PROMISE || last + 1 >= promised ||
	       complain(world, "generation %lld is promised, and the last one was %lld", (long long)promised,
			(long long)last);
}

static bool objects_check(struct world *world, int answered)
{
	post_commit_wait(world->objects->post_commit);
	if (!contents_check(world) || !promise_check(world, answered))
		return false;
	if (number_read(world, "storage.db", "SELECT count(*) FROM post_commit") != 0)
		return complain(world, "something is left to be done to files");
	if (world->power_lost)
		return true; /* files that the index does not know may be left */
	return count_check(world, "blobs", "SELECT count(DISTINCT blob) FROM object") &&
	       uploads_check(world) &&
	       count_check(world, "gs", "SELECT count(*) FROM object");
}

const struct script objects_script = {
	.name = "objects",
	.step_count = 11,
	.survives_power_loss = false,
	.open = objects_open,
	.run = objects_run,
	.repeats = objects_repeats,
	.look = objects_look,
	.check = objects_check,
	.close = objects_close,
};
