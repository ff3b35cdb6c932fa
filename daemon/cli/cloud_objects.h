/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/cloud_objects.h: finds objects of Cloud Storage through the daemon's JSON API. Thread: one at a time. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"
#include "daemon/cli/cloud_url.h"

struct client;

/* Appends "/storage/v1/b/BUCKET/o/OBJECT" below @top ("", "/upload", "/download"); @object NULL: the path of the list
 * of objects. */
void cloud_path_write(struct text *text, const char *top, const char *bucket, const char *object);

/* Conditions that listed objects must meet; a NULL member is no condition. */
struct cloud_query {
	const char *bucket, *prefix, *glob, *delimiter;
};
/* Passes each page of the list to @take. NOT_FOUND: there is no such bucket; or the error of @take, which stops. */
typedef enum status (*cloud_page_take)(void *arg, const json_t *page, struct error *err);
enum status cloud_list(struct client *client, const struct cloud_query *query, cloud_page_take take,
		       void *arg, struct error *err);
/* Gets the resource of one object, which the caller frees. NOT_FOUND: there is no such object. */
enum status cloud_stat(struct client *client, const char *bucket, const char *object, json_t **ret_object,
		       struct error *err);

/* Returns true if there is an object below "BUCKET/OBJECT/". */
bool cloud_is_directory(struct client *client, const struct cloud_url *url);

/* An object found for a word of the command line. */
struct cloud_found {
	char *name;
	/* The part of the name that the word itself determines: "b" of "a/b/c" for gs://BUCKET/a/b. The rest of the
	 * name is a path below that directory. */
	size_t base, end;
	int64_t generation, size_bytes;
	char *crc32c, *md5; /* in base64; NULL: not reported */
	bool packed;        /* the object has the Content-Encoding gzip */
};
struct cloud_selection {
	struct cloud_found *found;
	size_t count, size;
};
void cloud_selection_deinit(struct cloud_selection *selection);
#define AUTO_CLOUD_SELECTION __attribute__((cleanup(cloud_selection_deinit)))

/* Finds the objects that @url means: one by its name, all that match a pattern and, if @recursive, all below a
 * directory, a bucket or directories that match a pattern. A pattern without a match is used as a name. If the pattern
 * has "**", its matches are never taken as directories: base and end are the last part of each object's name.
 * Outcomes: NOT_FOUND: there is none; FAILED_PRECONDITION: @url is a bucket or a directory, and @recursive is false. */
enum status cloud_select(struct client *client, const struct cloud_url *url, bool recursive,
			 struct cloud_selection *ret_selection, struct error *err);
