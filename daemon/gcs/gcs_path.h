/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_path.h: maps a path of the file system to Cloud Storage. Pure.
 *
 *   /gcs                     the directory of all buckets; it lists no names
 *   /gcs/BUCKET              a bucket
 *   /gcs/BUCKET/a/b          the object a/b, or all objects with the prefix a/b/
 *
 * Objects that no path can name are neither reachable nor listed: those with empty parts (a//b, /a), with parts that are
 * "." or "..", or with parts longer than 255 bytes. An object with a slash at the end of its name makes an empty directory
 * visible. Where there are both the object a and objects below a/, the directory has the name a, and the object has that name
 * with a line feed behind it, which no object's name contains. Source:
 * https://github.com/GoogleCloudPlatform/gcsfuse/blob/master/docs/semantics.md (read 2026-11-22) */
#include <stdbool.h>
#include <stddef.h>

enum gcs_kind {
	GCS_TOP,     /* root of the file system: holds "gcs" */
	GCS_BUCKETS, /* directory of all buckets, which containers have at /gcs */
	GCS_BUCKET,
	GCS_ENTRY, /* below a bucket */
};

enum { GCS_BUCKET_SIZE = 224, GCS_OBJECT_SIZE = 1026, GCS_SEGMENT_MAX = 255 };

struct gcs_path {
	enum gcs_kind kind;
	char bucket[GCS_BUCKET_SIZE];
	char object[GCS_OBJECT_SIZE]; /* of an entry: the object's name without a final slash; else "" */
	bool is_twin;                 /* the path means the object that shares its name with a directory */
};

/* Parses a path. @path begins with a slash and has no empty parts. 0, or a negative errno: ENOENT: nothing can have
 * this path; EINVAL: no object may have such a name; ENAMETOOLONG. */
int gcs_path_parse(const char *path, struct gcs_path *ret_path);

/* Writes the common prefix of all objects in a directory, such as "a/b/"; for a bucket "". */
void gcs_path_prefix(const struct gcs_path *path, char ret_prefix[GCS_OBJECT_SIZE]);

/* Appends a name to the path of a directory. False: the result is too long. */
bool gcs_path_join(const struct gcs_path *directory, const char *name, struct gcs_path *ret_path);

/* True if a part of an object's name, between slashes, is valid as a file name. */
bool gcs_segment_is_name(const char *segment, size_t length);

/* The media type for @object by its extension; never NULL. */
const char *gcs_content_type(const char *object);
