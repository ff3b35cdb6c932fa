/* SPDX-License-Identifier: Apache-2.0 */
/* Paths that a job opens below /gcs, and times of files there.
 *
 * What must hold beside not crashing: what names an object names one that a client of the API could have, below no other
 * directory than it says, and its path, written out again, is the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/text.h"
#include "daemon/gcs/gcs_notes.h"
#include "daemon/gcs/gcs_path.h"
#include "store/objects/objects.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* Fails with: segments_check() that looks at the first part alone. */
static void entry_check(const struct gcs_path *entry, const char *path)
{
	struct text whole AUTO_TEXT = { 0 };
	struct text dotted AUTO_TEXT = { 0 };

	require(object_name_valid(entry->object) && strlen(entry->object) < GCS_OBJECT_SIZE - 1);
	text_printf(&whole, "/gcs/%s/%s%s", entry->bucket, entry->object, entry->is_twin ? "\n" : "");
	require(strcmp(whole.data, path) == 0);
	text_printf(&dotted, "/%s/", entry->object);
	require(!strstr(dotted.data, "/../") && !strstr(dotted.data, "/./") && !strstr(dotted.data, "//"));
}

static bool equal(const struct gcs_path *one, const struct gcs_path *other)
{
	return one->kind == other->kind && one->is_twin == other->is_twin &&
	       strcmp(one->bucket, other->bucket) == 0 && strcmp(one->object, other->object) == 0;
}

/* A file that a directory lists is opened by the directory's path and its name. */
static void join_check(const struct gcs_path *directory, const char *path, const char *name)
{
	struct gcs_path joined, parsed;
	struct text whole AUTO_TEXT = { 0 };

	if (directory->is_twin || !gcs_path_join(directory, name, &joined))
		return;
	text_printf(&whole, "%s/%s", path, name);
	if (gcs_path_parse(whole.data, &parsed) == 0)
		require(equal(&joined, &parsed));
}

/* Times in metadata, which any client may write: a valid time is unchanged after it is written and read again. */
static void time_check(const char *text)
{
	char written[GCS_TIME_SIZE];
	int64_t time_ns, again_ns;

	if (!gcs_time_read(text, &time_ns))
		return;
	gcs_time_write(time_ns, written);
	require(gcs_time_read(written, &again_ns) && again_ns == time_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(string) char *path = strndup(size ? (const char *)data : "", size);
	struct gcs_path parsed;
	char prefix[GCS_OBJECT_SIZE];

	if (path)
		time_check(path);
	/* The kernel itself splits such a path. */
	if (!path || path[0] != '/' || strstr(path, "//") || (path[1] && path[strlen(path) - 1] == '/'))
		return 0;
	if (gcs_path_parse(path, &parsed) < 0)
		return 0;
	require(gcs_content_type(parsed.object));
	gcs_path_prefix(&parsed, prefix);
	require(strncmp(prefix, parsed.object, strlen(parsed.object)) == 0);
	require(parsed.kind <= GCS_BUCKETS || bucket_name_valid(parsed.bucket));
	if (parsed.kind == GCS_ENTRY)
		entry_check(&parsed, path);
	if (parsed.kind >= GCS_BUCKET)
		join_check(&parsed, path, strrchr(path, '/') + 1);
	return 0;
}
