/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "store/objects/objects.h"

#define COUNT_OF(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

static const char top_name[] = "gcs";

/* Media types by the extension of a name: those that gcsfuse uses on any machine, and some that it has from its image.
 * Source: https://pkg.go.dev/mime#TypeByExtension (read 2026-11-22) */
static const struct {
	const char *ending, *type;
} types[] = {
	{ "avif", "image/avif" },
	{ "css", "text/css; charset=utf-8" },
	{ "csv", "text/csv; charset=utf-8" },
	{ "gif", "image/gif" },
	{ "gz", "application/gzip" },
	{ "htm", "text/html; charset=utf-8" },
	{ "html", "text/html; charset=utf-8" },
	{ "jpeg", "image/jpeg" },
	{ "jpg", "image/jpeg" },
	{ "js", "text/javascript; charset=utf-8" },
	{ "json", "application/json" },
	{ "mjs", "text/javascript; charset=utf-8" },
	{ "pdf", "application/pdf" },
	{ "png", "image/png" },
	{ "svg", "image/svg+xml" },
	{ "txt", "text/plain; charset=utf-8" },
	{ "wasm", "application/wasm" },
	{ "webp", "image/webp" },
	{ "xml", "text/xml; charset=utf-8" },
	{ "zip", "application/zip" },
};

const char *gcs_content_type(const char *object)
{
	const char *dot = strrchr(object, '.');

	for (size_t i = 0; dot && i < COUNT_OF(types); i++)
		if (strcasecmp(dot + 1, types[i].ending) == 0)
			return types[i].type;
	return "application/octet-stream";
}

bool gcs_segment_is_name(const char *segment, size_t length)
{
	return length > 0 && length <= GCS_SEGMENT_MAX && strncmp(segment, ".", length) != 0 &&
	       (length != 2 || strncmp(segment, "..", 2) != 0);
}

static int segments_check(const char *object)
{
	while (*object) {
		const size_t length = strcspn(object, "/");

		if (length > GCS_SEGMENT_MAX)
			return -ENAMETOOLONG;
		if (!gcs_segment_is_name(object, length))
			return -ENOENT;
		object += length;
		object += *object == '/';
	}
	return 0;
}

static int object_parse(const char *object, struct gcs_path *path)
{
	const size_t length = strlen(object);
	int problem;

	path->is_twin = length > 1 && object[length - 1] == '\n' && object[length - 2] != '/';
	if (length - path->is_twin > GCS_OBJECT_SIZE - 2) /* leaves room for a slash at the end */
		return -ENAMETOOLONG;
	snprintf(path->object, sizeof(path->object), "%.*s", (int)(length - path->is_twin), object);
	problem = segments_check(path->object);
	if (problem)
		return problem;
	return object_name_valid(path->object) ? 0 : -EINVAL;
}

int gcs_path_parse(const char *path, struct gcs_path *ret_path)
{
	const char *bucket = path + 1 + strlen(top_name) + 1, *slash;

	*ret_path = (struct gcs_path){ .kind = GCS_TOP };
	if (strcmp(path, "/") == 0)
		return 0;
	if (strncmp(path + 1, top_name, strlen(top_name)) != 0)
		return -ENOENT;
	ret_path->kind = GCS_BUCKETS;
	if (!bucket[-1])
		return 0;
	if (bucket[-1] != '/')
		return -ENOENT;
	slash = strchrnul(bucket, '/');
	if ((size_t)(slash - bucket) >= sizeof(ret_path->bucket))
		return -ENOENT;
	snprintf(ret_path->bucket, sizeof(ret_path->bucket), "%.*s", (int)(slash - bucket), bucket);
	if (!bucket_name_valid(ret_path->bucket))
		return -ENOENT;
	ret_path->kind = *slash ? GCS_ENTRY : GCS_BUCKET;
	return *slash ? object_parse(slash + 1, ret_path) : 0;
}

void gcs_path_prefix(const struct gcs_path *path, char ret_prefix[GCS_OBJECT_SIZE])
{
	snprintf(ret_prefix, GCS_OBJECT_SIZE, "%.*s%s", GCS_OBJECT_SIZE - 2, path->object,
		 path->kind == GCS_ENTRY ? "/" : "");
}

bool gcs_path_join(const struct gcs_path *directory, const char *name, struct gcs_path *ret_path)
{
	char prefix[GCS_OBJECT_SIZE];
	const size_t length = strlen(name);

	gcs_path_prefix(directory, prefix);
	*ret_path = *directory;
	ret_path->kind = GCS_ENTRY;
	ret_path->is_twin = length > 1 && name[length - 1] == '\n';
	return snprintf(ret_path->object, sizeof(ret_path->object), "%s%.*s", prefix,
			(int)(length - ret_path->is_twin), name) < (int)sizeof(ret_path->object);
}
