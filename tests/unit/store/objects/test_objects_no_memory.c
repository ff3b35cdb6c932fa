/* SPDX-License-Identifier: Apache-2.0 */
/* Every asking for memory of every operation on storage.db fails once: it is done, or it is not and an error says so. */
#include "daemon/base/json.h"
#include "store/objects/assemblies.h"
#include "tests/support/memory_faults.h"
#include "tests/unit/store/eye_testing.h"
#include "tests/unit/store/objects/objects_testing.h"

struct world {
	struct yard *yard;
	sqlite3 *eye;
	json_t *metadata;
	/* What prepare() made for the run that follows. */
	char name[32], id[SESSION_ID_SIZE];
	struct part_claim claim;
};

static void objects_look(void *arg, struct text *ret_seen)
{
	struct world *world = arg;

	eye_look(world->eye, "bucket", ret_seen);
	eye_look(world->eye, "object", ret_seen);
}

static void all_look(void *arg, struct text *ret_seen)
{
	struct world *world = arg;

	objects_look(arg, ret_seen);
	eye_look(world->eye, "session", ret_seen);
	eye_look(world->eye, "assembly", ret_seen);
	eye_look(world->eye, "part", ret_seen);
}

/* ---- what operations are about ---- */

static void name_draw(void *arg, unsigned number)
{
	struct world *world = arg;

	snprintf(world->name, sizeof(world->name), "name%u", number);
}

static struct object_target target_drawn(struct world *world)
{
	struct object_target target = target_of(world->name);

	target.content_type = "text/plain";
	target.metadata = world->metadata;
	return target;
}

static void object_prepare(void *arg, unsigned number)
{
	struct world *world = arg;
	struct object_target target;
	struct object made AUTO_OBJECT = { 0 };

	name_draw(arg, number);
	target = target_drawn(world);
	assert_int_equal(target_put(world->yard, &target, "bytes", 5, &made), STATUS_OK);
}

static void some_objects(void *arg, unsigned number)
{
	for (unsigned i = 0; number == 0 && i < 12; i++) {
		struct world *world = arg;
		struct object_target target = target_of(world->name);

		snprintf(world->name, sizeof(world->name), i % 3 ? "d%u/e/name" : "d%u", i);
		assert_int_equal(target_put(world->yard, &target, "bytes", 5, NULL), STATUS_OK);
	}
}

static void bucket_prepare(void *arg, unsigned number)
{
	struct world *world = arg;

	name_draw(arg, number);
	assert_int_equal(bucket_insert(world->yard->objects, "demo", world->name, NULL, NULL, NULL),
			 STATUS_OK);
}

static void some_buckets(void *arg, unsigned number)
{
	for (unsigned i = 0; number == 0 && i < 9; i++)
		bucket_prepare(arg, i);
}

static void session_prepare(void *arg, unsigned number)
{
	struct world *world = arg;
	struct object_target target;

	name_draw(arg, number);
	target = target_drawn(world);
	assert_int_equal(session_begin(world->yard->objects, &target, 5, world->id, NULL), STATUS_OK);
}

/* One that has three of its five bytes. */
static void parked_prepare(void *arg, unsigned number)
{
	struct world *world = arg;
	struct upload *upload = NULL;
	int64_t received;

	session_prepare(arg, number);
	assert_int_equal(session_resume(world->yard->objects, world->id, 0, &upload, NULL), STATUS_OK);
	assert_int_equal(upload_write(upload, "byt", 3, NULL), STATUS_OK);
	assert_int_equal(session_park(upload, &received, NULL), STATUS_OK);
	assert_int_equal(received, 3);
}

static struct assembly_key key_of(struct world *world)
{
	return (struct assembly_key){ "bucket", world->name, world->id };
}

static void assembly_prepare(void *arg, unsigned number)
{
	struct world *world = arg;
	struct object_target target;

	name_draw(arg, number);
	target = target_drawn(world);
	assert_int_equal(assembly_begin(world->yard->objects, &target, world->id, NULL), STATUS_OK);
}

static enum status part_put(struct world *world, struct part *ret_part, struct error *err)
{
	const struct assembly_key key = key_of(world);
	AUTO(upload) struct upload *upload = NULL;
	enum status rc = part_begin(world->yard->objects, &key, 1, &upload, err);

	if (!rc)
		rc = upload_write(upload, "bytes", 5, err);
	return rc ? rc : part_finish(upload, ret_part, err);
}

static void part_prepare(void *arg, unsigned number)
{
	struct world *world = arg;
	struct part part;

	assembly_prepare(arg, number);
	assert_int_equal(part_put(world, &part, NULL), STATUS_OK);
	world->claim = (struct part_claim){ .number = 1, .has_md5 = true };
	memcpy(world->claim.md5, part.md5, sizeof(part.md5));
}

/* ---- operations ---- */

#define WORLD                                                                                                \
	struct world *world = arg;                                                                           \
	struct objects *objects = world->yard->objects

static void object_say(const struct object *object, struct text *said)
{
	AUTO(string) char *metadata = json_dump_compact(object->metadata);

	if (!metadata)
		said->failed = true;
	else
		text_printf(said, "%s %d %s %x;", object->content_type ? object->content_type : "-",
			    (int)object->size_bytes, metadata, object->crc32c);
}

MEMORY_RUN(bucket_make)
{
	WORLD;
	struct bucket bucket AUTO_BUCKET = { 0 };
	enum status rc = bucket_insert(objects, "demo", world->name, world->metadata, &bucket, err);

	if (!rc)
		text_puts(ret_said, bucket.project);
	return rc;
}

MEMORY_RUN(bucket_read)
{
	WORLD;
	struct bucket bucket AUTO_BUCKET = { 0 };
	enum status rc = bucket_get(objects, world->name, &bucket, err);

	if (!rc)
		text_puts(ret_said, bucket.project);
	return rc;
}

MEMORY_RUN(bucket_change)
{
	WORLD;
	struct bucket bucket AUTO_BUCKET = { 0 };

	return bucket_update(objects, world->name, &no_conditions, world->metadata, &bucket, err);
}

MEMORY_RUN(bucket_remove)
{
	WORLD;

	return bucket_delete(objects, world->name, &no_conditions, err);
}

MEMORY_RUN(bucket_make_on_use)
{
	WORLD;

	return bucket_ensure(objects, world->name, err);
}

MEMORY_RUN(buckets_list)
{
	WORLD;
	struct bucket_page page AUTO_BUCKET_PAGE = { 0 };
	enum status rc = bucket_list(objects, "demo", "n", "name1", 5, &page, err);

	for (size_t i = 0; !rc && i < page.count; i++)
		text_puts(ret_said, page.buckets[i].name);
	if (!rc)
		text_puts(ret_said, page.next);
	return rc;
}

MEMORY_RUN(put)
{
	WORLD;
	const struct object_target target = target_drawn(world);
	AUTO(upload) struct upload *upload = NULL;
	struct object made AUTO_OBJECT = { 0 };
	enum status rc = upload_begin(objects, &target, &upload, err);

	if (!rc)
		rc = upload_write(upload, "bytes", 5, err);
	if (!rc)
		rc = upload_finish(upload, &made, err);
	if (!rc)
		object_say(&made, ret_said);
	return rc;
}

MEMORY_RUN(get)
{
	WORLD;
	struct object object AUTO_OBJECT = { 0 };
	enum status rc = object_get(objects, "bucket", world->name, 0, &object, err);

	if (!rc)
		object_say(&object, ret_said);
	return rc;
}

MEMORY_RUN(read_bytes)
{
	WORLD;
	AUTO(object_reader) struct object_reader *reader = NULL;
	char bytes[8];
	enum status rc = object_open(objects, "bucket", world->name, 0, &reader, err);
	ssize_t length = rc ? 0 : object_read(reader, 0, bytes, sizeof(bytes), err);

	assert_true(length >= 0);
	text_append(ret_said, bytes, (size_t)length);
	return rc;
}

MEMORY_RUN(update)
{
	WORLD;
	struct object object AUTO_OBJECT = { 0 };
	enum status rc = object_update(objects, "bucket", world->name, 0, &no_conditions, "a/b",
				       world->metadata, &object, err);

	if (!rc)
		object_say(&object, ret_said);
	return rc;
}

MEMORY_RUN(remove_object)
{
	WORLD;

	return object_delete(objects, "bucket", world->name, 0, &no_conditions, err);
}

MEMORY_RUN(copy)
{
	WORLD;
	const struct object_target target = target_of("copy");
	struct object object AUTO_OBJECT = { 0 };
	enum status rc =
		object_copy(objects, "bucket", world->name, 0, &no_conditions, &target, false, &object, err);

	if (!rc)
		object_say(&object, ret_said);
	return rc;
}

MEMORY_RUN(compose)
{
	WORLD;
	const struct object_target target = target_of("whole");
	const struct compose_source sources[] = { { world->name, 0, -1 }, { world->name, 0, -1 } };
	struct object object AUTO_OBJECT = { 0 };
	enum status rc = object_compose(objects, sources, 2, &target, &object, err);

	if (!rc)
		object_say(&object, ret_said);
	return rc;
}

MEMORY_RUN(list)
{
	WORLD;
	const struct object_query query = {
		.bucket = "bucket", .prefix = "d", .delimiter = "/", .match_glob = "**", .most = 7
	};
	struct object_page page AUTO_OBJECT_PAGE = { 0 };
	enum status rc = object_list(objects, &query, &page, err);

	for (size_t i = 0; !rc && i < page.count; i++)
		text_puts(ret_said, page.objects[i].name);
	for (size_t i = 0; !rc && i < page.prefix_count; i++)
		text_puts(ret_said, page.prefixes[i]);
	if (!rc)
		text_puts(ret_said, page.next);
	return rc;
}

MEMORY_RUN(session_make)
{
	WORLD;
	const struct object_target target = target_drawn(world);

	return session_begin(objects, &target, 5, world->id, err);
}

MEMORY_RUN(session_read)
{
	WORLD;
	struct session session AUTO_SESSION = { 0 };
	enum status rc = session_get(objects, world->id, &session, err);

	if (!rc)
		text_printf(ret_said, "%s %d %d", session.bucket, (int)session.received_bytes,
			    session.finished);
	return rc;
}

MEMORY_RUN(session_end)
{
	WORLD;
	AUTO(upload) struct upload *upload = NULL;
	struct object made AUTO_OBJECT = { 0 };
	enum status rc = session_resume(objects, world->id, 3, &upload, err);

	if (!rc)
		rc = upload_write(upload, "es", 2, err);
	if (!rc)
		rc = upload_finish(upload, &made, err);
	if (!rc)
		object_say(&made, ret_said);
	return rc;
}

MEMORY_RUN(session_remove)
{
	WORLD;

	return session_delete(objects, world->id, err);
}

MEMORY_RUN(assembly_make)
{
	WORLD;
	const struct object_target target = target_drawn(world);

	return assembly_begin(objects, &target, world->id, err);
}

MEMORY_RUN(assembly_read)
{
	WORLD;
	const struct assembly_key key = key_of(world);
	struct assembly assembly AUTO_ASSEMBLY = { 0 };
	enum status rc = assembly_get(objects, &key, &assembly, err);

	if (!rc)
		text_printf(ret_said, "%s", assembly.storage_class);
	return rc;
}

MEMORY_RUN(assembly_remove)
{
	WORLD;
	const struct assembly_key key = key_of(world);

	return assembly_delete(objects, &key, err);
}

static void some_assemblies(void *arg, unsigned number)
{
	for (unsigned i = 0; number == 0 && i < 9; i++)
		assembly_prepare(arg, i);
}

MEMORY_RUN(assemblies_list)
{
	WORLD;
	const struct assembly_query query = {
		.bucket = "bucket", .prefix = "n", .delimiter = "5", .most = 7
	};
	struct assembly_page page AUTO_ASSEMBLY_PAGE = { 0 };
	enum status rc = assembly_list(objects, &query, &page, err);

	for (size_t i = 0; !rc && i < page.count; i++)
		text_puts(ret_said, page.assemblies[i].name);
	for (size_t i = 0; !rc && i < page.prefix_count; i++)
		text_puts(ret_said, page.prefixes[i]);
	return rc;
}

MEMORY_RUN(part_make)
{
	struct part part;
	enum status rc = part_put(arg, &part, err);

	if (!rc)
		text_printf(ret_said, "%x", part.crc32c);
	return rc;
}

MEMORY_RUN(parts_list)
{
	WORLD;
	const struct assembly_key key = key_of(world);
	struct part_page page AUTO_PART_PAGE = { 0 };
	enum status rc = part_list(objects, &key, 0, 9, &page, err);

	for (size_t i = 0; !rc && i < page.count; i++)
		text_printf(ret_said, "%u", page.parts[i].number);
	return rc;
}

MEMORY_RUN(assembly_end)
{
	WORLD;
	const struct assembly_key key = key_of(world);
	struct object made AUTO_OBJECT = { 0 };
	enum status rc = assembly_finish(objects, &key, &world->claim, 1, &made, err);

	if (!rc)
		object_say(&made, ret_said);
	return rc;
}

#define READS(name, prepare, run)                                                                            \
	{                                                                                                    \
		name, prepare, run, all_look, false                                                          \
	}
#define CHANGES(name, prepare, run)                                                                          \
	{                                                                                                    \
		name, prepare, run, all_look, true                                                           \
	}

/* Broken: what a change did after SQLite had taken its transaction back was stored step by step (assembly_delete,
 * part_finish, assembly_finish); a page of buckets began anew when the name to go on after found no memory; a prefix leaked
 * (assembly_list, seen with a leak detector). */
static const struct memory_operation operations[] = {
	CHANGES("bucket_insert", name_draw, bucket_make),
	CHANGES("bucket_ensure", name_draw, bucket_make_on_use),
	READS("bucket_get", bucket_prepare, bucket_read),
	CHANGES("bucket_update", bucket_prepare, bucket_change),
	CHANGES("bucket_delete", bucket_prepare, bucket_remove),
	READS("bucket_list", some_buckets, buckets_list),
	CHANGES("upload", name_draw, put),
	READS("object_get", object_prepare, get),
	READS("object_open", object_prepare, read_bytes),
	CHANGES("object_update", object_prepare, update),
	CHANGES("object_delete", object_prepare, remove_object),
	CHANGES("object_copy", object_prepare, copy),
	CHANGES("object_compose", object_prepare, compose),
	READS("object_list", some_objects, list),
	CHANGES("session_begin", name_draw, session_make),
	READS("session_get", parked_prepare, session_read),
	/* What was received meanwhile is kept. */
	{ "session_resume", parked_prepare, session_end, objects_look, true },
	CHANGES("session_delete", parked_prepare, session_remove),
	CHANGES("assembly_begin", name_draw, assembly_make),
	READS("assembly_get", assembly_prepare, assembly_read),
	CHANGES("assembly_delete", assembly_prepare, assembly_remove),
	READS("assembly_list", some_assemblies, assemblies_list),
	CHANGES("part_finish", assembly_prepare, part_make),
	READS("part_list", part_prepare, parts_list),
	CHANGES("assembly_finish", part_prepare, assembly_end),
};

static int world_open(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	*state = world;
	if (yard_open_at((void **)&world->yard, eye_directory_pattern()))
		return -1;
	world->metadata = json_pack("{s:s, s:{s:s}}", "storageClass", "NEARLINE", "metadata", "a", "b");
	if (bucket_insert(world->yard->objects, "demo", "bucket", NULL, NULL, NULL))
		return -1;
	return eye_open(world->yard->dir, "storage.db", &world->eye);
}

static int world_close(void **state)
{
	struct world *world = *state;

	sqlite3_close_v2(world->eye);
	json_decref(world->metadata);
	yard_close((void **)&world->yard);
	free(world);
	return 0;
}

int main(void)
{
	struct CMUnitTest tests[COUNT_OF(operations)];

	memory_faults_init();
	memory_tests_fill(tests, operations, COUNT_OF(operations), world_open, world_close);
	return cmocka_run_group_tests_name("objects without memory", tests, NULL, NULL);
}
