/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/cloud_objects.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/cli/client.h"

void cloud_path_write(struct text *text, const char *top, const char *bucket, const char *object)
{
	text_printf(text, "%s/storage/v1/b/", top);
	text_percent(text, bucket, URL_UNRESERVED);
	text_puts(text, object ? "/o/" : "/o");
	text_percent(text, object ? object : "", URL_UNRESERVED);
}

/* ---- lists ---- */

static void condition_write(struct text *path, const char *name, const char *value)
{
	if (!value)
		return;
	text_printf(path, "%c%s=", strchr(path->data, '?') ? '&' : '?', name);
	text_percent(path, value, URL_UNRESERVED);
}

enum status cloud_list(struct client *client, const struct cloud_query *query, cloud_page_take take,
		       void *arg, struct error *err)
{
	AUTO(string) char *token = NULL;
	enum status rc;

	do {
		struct text path AUTO_TEXT = { 0 };
		AUTO(json) json_t *page = NULL;

		cloud_path_write(&path, "", query->bucket, NULL);
		condition_write(&path, "prefix", query->prefix);
		condition_write(&path, "matchGlob", query->glob);
		condition_write(&path, "delimiter", query->delimiter);
		condition_write(&path, "pageToken", token);
		rc = client_call(client, "GET", path.data, NULL, &page, err);
		if (!rc)
			rc = take(arg, page, err);
		free(token);
		token = rc ? NULL : memory_strdup(json_text_at(page, "nextPageToken"));
	} while (token);
	return rc;
}

enum status cloud_stat(struct client *client, const char *bucket, const char *object, json_t **ret_object,
		       struct error *err)
{
	struct text path AUTO_TEXT = { 0 };

	cloud_path_write(&path, "", bucket, object);
	return client_call(client, "GET", path.data, NULL, ret_object, err);
}

/* ---- selections ---- */

void cloud_selection_deinit(struct cloud_selection *selection)
{
	for (size_t i = 0; i < selection->count; i++) {
		free(selection->found[i].name);
		free(selection->found[i].crc32c);
		free(selection->found[i].md5);
	}
	free(selection->found);
	*selection = (struct cloud_selection){ 0 };
}

struct selecting {
	const struct cloud_url *url;
	struct cloud_selection selection;
	size_t depth; /* number of parts of the word's path: "a/b" has 2; 0: each object is named by its last part */
};

/* Finds the part number @depth of @name; 0: the last part. */
static void part_find(const char *name, size_t depth, size_t *ret_base, size_t *ret_end)
{
	size_t length = strlen(name), base = 0, end;

	while (length > 1 && name[length - 1] == '/') /* "a/b/" stands for a directory: ignore the last slash */
		length--;
	if (depth)
		for (size_t part = 1; part < depth; part++)
			base += strcspn(name + base, "/") + 1;
	else
		for (size_t i = 0; i < length; i++)
			if (name[i] == '/')
				base = i + 1;
	end = base > length ? length : base + strcspn(name + base, "/");
	*ret_base = base > length ? 0 : base;
	*ret_end = depth && end < length ? end : length;
}

static void object_add(struct selecting *selecting, const json_t *object)
{
	struct cloud_selection *selection = &selecting->selection;
	const char *name = json_text_at(object, "name"), *encoding = json_text_at(object, "contentEncoding");
	struct cloud_found *found;

	if (!name)
		return;
	if (selection->count == selection->size) {
		selection->size = selection->size ? 2 * selection->size : 64;
		selection->found =
			memory_resize(selection->found, selection->size, sizeof(*selection->found));
	}
	found = &selection->found[selection->count++];
	*found = (struct cloud_found){ .name = memory_strdup(name),
				       .generation = json_int_at(object, "generation", 0),
				       .size_bytes = json_int_at(object, "size", 0),
				       .crc32c = memory_strdup(json_text_at(object, "crc32c")),
				       .md5 = memory_strdup(json_text_at(object, "md5Hash")),
				       .packed = encoding && strcmp(encoding, "gzip") == 0 };
	if (*selecting->url->object)
		part_find(name, selecting->depth, &found->base, &found->end);
}

static enum status page_add(void *arg, const json_t *page, struct error *err)
{
	const json_t *object;
	size_t index;

	(void)err;
	json_array_foreach(json_object_get(page, "items"), index, object)
		object_add(arg, object);
	return STATUS_OK;
}

static size_t depth_of(const char *name, size_t length)
{
	size_t depth = 1;

	for (size_t i = 0; i < length; i++)
		depth += name[i] == '/';
	return depth;
}

static enum status pattern_select(struct selecting *selecting, struct client *client, bool recursive,
				  struct error *err)
{
	const char *pattern = selecting->url->object;
	size_t length = strlen(pattern);
	enum status rc;

	if (recursive)
		while (length > 1 && pattern[length - 1] == '/')
			length--;
	AUTO(string) char *itself = memory_strndup(pattern, length);
	AUTO(string) char *below = memory_printf("%s/**", itself);
	selecting->depth = strstr(pattern, "**") ? 0 : depth_of(itself, length);
	rc = cloud_list(client, &(struct cloud_query){ .bucket = selecting->url->bucket, .glob = itself },
			page_add, selecting, err);
	if (rc || !recursive || !selecting->depth)
		return rc;
	return cloud_list(client, &(struct cloud_query){ .bucket = selecting->url->bucket, .glob = below },
			  page_add, selecting, err);
}

/* The object with exactly this name, and the objects below it. NOT_FOUND: there is no such bucket. */
static enum status name_select(struct selecting *selecting, struct client *client, bool recursive,
			       struct error *err)
{
	const struct cloud_url *url = selecting->url;
	size_t length = strlen(url->object);
	AUTO(json) json_t *object = NULL;
	enum status rc =
		*url->object ? cloud_stat(client, url->bucket, url->object, &object, NULL) : STATUS_NOT_FOUND;

	while (recursive && length > 1 && url->object[length - 1] == '/')
		length--;
	AUTO(string) char *prefix = memory_printf("%.*s%s", (int)length, url->object, length ? "/" : "");
	selecting->depth = depth_of(url->object, length);
	if (rc && (rc != STATUS_NOT_FOUND || client_is_unreached(client)))
		return cloud_stat(client, url->bucket, url->object, &object, err);
	/* Do not add "directory/" itself here: the list of the directory below contains it. */
	if (object && !(recursive && strcmp(prefix, url->object) == 0))
		object_add(selecting, object);
	if (!recursive)
		return STATUS_OK;
	return cloud_list(client, &(struct cloud_query){ .bucket = url->bucket, .prefix = prefix }, page_add,
			  selecting, err);
}

static enum status first_take(void *arg, const json_t *page, struct error *err)
{
	(void)err;
	*(bool *)arg = json_array_size(json_object_get(page, "items")) > 0;
	return *(bool *)arg ? STATUS_ABORTED : STATUS_OK;
}

bool cloud_is_directory(struct client *client, const struct cloud_url *url)
{
	const size_t length = strlen(url->object);
	AUTO(string)
	char *prefix =
		memory_printf("%s%s", url->object, length && url->object[length - 1] != '/' ? "/" : "");
	bool found = false;

	cloud_list(client, &(struct cloud_query){ .bucket = url->bucket, .prefix = prefix }, first_take,
		   &found, NULL);
	return found;
}

static enum status nothing_refuse(struct client *client, const struct cloud_url *url, bool recursive,
				  struct error *err)
{
	AUTO(string) char *reported = cloud_url_text(url->bucket, url->object);

	if (!recursive && cloud_is_directory(client, url))
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "%s is a directory: `cp -r` and `rm -r` include its contents", reported);
	return error_set(err, STATUS_NOT_FOUND, NULL, "there is no object %s", reported);
}

enum status cloud_select(struct client *client, const struct cloud_url *url, bool recursive,
			 struct cloud_selection *ret_selection, struct error *err)
{
	struct selecting selecting = { .url = url };
	enum status rc = STATUS_OK;

	if (!*url->object && !recursive)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "gs://%s is a whole bucket: `cp -r` and `rm -r` include its contents", url->bucket);
	if (cloud_name_is_pattern(url->object))
		rc = pattern_select(&selecting, client, recursive, err);
	if (!rc && !selecting.selection.count)
		rc = name_select(&selecting, client, recursive, err);
	if (!rc && !selecting.selection.count && *url->object)
		rc = nothing_refuse(client, url, recursive, err);
	if (rc) {
		cloud_selection_deinit(&selecting.selection);
		return rc;
	}
	*ret_selection = selecting.selection;
	return STATUS_OK;
}
