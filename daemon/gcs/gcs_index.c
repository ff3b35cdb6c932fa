/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "daemon/gcs/gcs_caller.h"
#include "daemon/gcs/gcs_notes.h"
#include "store/objects/objects.h"

enum { PAGE_MOST = 1000, NS_PER_US = 1000 };

int gcs_errno_of(enum status status)
{
	switch (status) {
	case STATUS_OK:
		return 0;
	case STATUS_NOT_FOUND:
		return -ENOENT;
	case STATUS_INVALID_ARGUMENT:
	case STATUS_OUT_OF_RANGE:
		return -EINVAL;
	case STATUS_RESOURCE_EXHAUSTED:
		return -ENOSPC;
	case STATUS_PERMISSION_DENIED:
	case STATUS_UNAUTHENTICATED:
		return -EACCES;
	default:
		return -EIO;
	}
}

/* ---- one name ---- */

/* A directory has the time of the object with its name and a slash, if there is one. */
static int entry_look(const struct gcs_index *index, const struct gcs_path *path, struct gcs_facts *ret_facts)
{
	struct object_view view AUTO_OBJECT_VIEW = { 0 };
	enum status rc = object_view_get(index->objects, path->bucket, path->object, &view, NULL);

	if (rc)
		return gcs_errno_of(rc);
	if (view.is_directory && !path->is_twin) {
		*ret_facts = (struct gcs_facts){
			.is_directory = true,
			.modified_ns = view.directory_us ? view.directory_us * NS_PER_US : index->begun_ns,
		};
		return 0;
	}
	if (!view.is_object || view.is_directory != path->is_twin)
		return -ENOENT;
	*ret_facts = gcs_facts_of(&view.object);
	return 0;
}

static int bucket_look(const struct gcs_index *index, const char *name, struct gcs_facts *ret_facts)
{
	struct bucket bucket AUTO_BUCKET = { 0 };
	enum status rc = bucket_get(index->objects, name, &bucket, NULL);

	*ret_facts = (struct gcs_facts){ .is_directory = true, .modified_ns = index->begun_ns };
	if (!rc)
		ret_facts->modified_ns = bucket.created_us * NS_PER_US;
	return rc == STATUS_NOT_FOUND && index->auto_buckets ? 0 : gcs_errno_of(rc);
}

int gcs_look(const struct gcs_index *index, const struct gcs_path *path, struct gcs_facts *ret_facts)
{
	switch (path->kind) {
	case GCS_ENTRY:
		return entry_look(index, path, ret_facts);
	case GCS_BUCKET:
		return bucket_look(index, path->bucket, ret_facts);
	case GCS_TOP:
	case GCS_BUCKETS:
		break;
	}
	*ret_facts = (struct gcs_facts){ .is_directory = true, .modified_ns = index->begun_ns };
	return 0;
}

int gcs_link_read(const struct gcs_index *index, const struct gcs_path *path, char *ret_target, size_t size)
{
	AUTO(object_reader) struct object_reader *reader = NULL;
	enum status rc = object_open(index->objects, path->bucket, path->object, 0, &reader, NULL);
	const char *target;
	ssize_t length;

	if (rc)
		return gcs_errno_of(rc);
	if (!gcs_facts_of(object_reader_object(reader)).is_link)
		return -EINVAL;
	target = gcs_link_target(object_reader_object(reader));
	if (target) {
		snprintf(ret_target, size, "%s", target);
		return 0;
	}
	length = object_read(reader, 0, ret_target, size - 1, NULL);
	ret_target[length < 0 ? 0 : length] = '\0';
	return length < 0 ? -EIO : 0;
}

int gcs_directory_is_empty(const struct gcs_index *index, const struct gcs_path *path, bool *ret_empty)
{
	struct object_page page AUTO_OBJECT_PAGE = { 0 };
	char prefix[GCS_OBJECT_SIZE];
	const struct object_query query = { .bucket = path->bucket, .prefix = prefix, .most = 2 };
	enum status rc;

	gcs_path_prefix(path, prefix);
	rc = object_list(index->objects, &query, &page, NULL);
	*ret_empty = page.count == 0 || (page.count == 1 && strcmp(page.objects[0].name, prefix) == 0);
	return rc == STATUS_NOT_FOUND ? 0 : gcs_errno_of(rc);
}

/* ---- a directory ---- */

struct gcs_listing {
	const struct gcs_index *index;
	char bucket[GCS_BUCKET_SIZE], prefix[GCS_OBJECT_SIZE];
	struct gcs_entry entries[PAGE_MOST + 1]; /* of the page; one name may be an object and a directory */
	size_t count;
	int64_t first; /* position of the page's first entry */
	char *next;    /* name with which the next page begins */
	bool is_begun, is_last;
};

struct gcs_listing *gcs_listing_new(const struct gcs_index *index, const struct gcs_path *path)
{
	struct gcs_listing *listing = memory_calloc(1, sizeof(*listing));

	listing->index = index;
	snprintf(listing->bucket, sizeof(listing->bucket), "%s", path->bucket);
	gcs_path_prefix(path, listing->prefix);
	return listing;
}

static void page_forget(struct gcs_listing *listing)
{
	for (size_t i = 0; i < listing->count; i++)
		free(listing->entries[i].name);
	listing->count = 0;
}

void gcs_listing_free(struct gcs_listing *listing)
{
	if (!listing)
		return;
	page_forget(listing);
	free(listing->next);
	free(listing);
}

static void entry_add(struct gcs_listing *listing, const char *name, size_t length, const char *ending,
		      struct gcs_facts facts)
{
	struct gcs_entry *entry = &listing->entries[listing->count];

	if (!gcs_segment_is_name(name, length))
		return;
	entry->name = memory_printf("%.*s%s", (int)length, name, ending);
	entry->facts = facts;
	listing->count++;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sets *ret_twin if a directory has the same name as the object. Looks into the store only if the page ends before
 * the directory's name. */
static int twin_look(const struct gcs_listing *listing, const struct object_page *page, const char *object,
		     bool *ret_twin)
{
	struct object_view view AUTO_OBJECT_VIEW = { 0 };
	char directory[GCS_OBJECT_SIZE];
	const char *key = directory;
	enum status rc;

	snprintf(directory, sizeof(directory), "%.*s/", GCS_OBJECT_SIZE - 2, object);
	*ret_twin = page->prefix_count > 0 &&
		    bsearch(&key, page->prefixes, page->prefix_count, sizeof(*page->prefixes), by_text);
	if (*ret_twin || !page->next || strcmp(directory, page->next) <= 0)
		return 0;
	rc = object_view_get(listing->index->objects, listing->bucket, object, &view, NULL);
	*ret_twin = !rc && view.is_directory;
	return gcs_errno_of(rc);
}

static int object_add(struct gcs_listing *listing, const struct object_page *page,
		      const struct object *object)
{
	const char *name = object->name + strlen(listing->prefix);
	bool has_twin;
	int problem = twin_look(listing, page, object->name, &has_twin);

	if (!problem)
		entry_add(listing, name, strlen(name), has_twin ? "\n" : "", gcs_facts_of(object));
	return problem;
}

static int page_take(struct gcs_listing *listing, const struct object_page *page)
{
	const size_t skipped = strlen(listing->prefix);
	const struct gcs_facts facts = { .is_directory = true, .modified_ns = listing->index->begun_ns };
	int problem = 0;

	for (size_t i = 0; !problem && i < page->count; i++)
		problem = object_add(listing, page, &page->objects[i]);
	for (size_t i = 0; !problem && i < page->prefix_count; i++)
		entry_add(listing, page->prefixes[i] + skipped, strlen(page->prefixes[i]) - skipped - 1, "",
			  facts);
	return problem;
}

static int page_load(struct gcs_listing *listing)
{
	struct object_page page AUTO_OBJECT_PAGE = { 0 };
	const struct object_query query = {
		.bucket = listing->bucket,
		.prefix = listing->prefix,
		.delimiter = "/",
		.after = listing->next,
		.most = PAGE_MOST,
	};
	enum status rc = object_list(listing->index->objects, &query, &page, NULL);
	int problem;

	if (rc && (rc != STATUS_NOT_FOUND || !listing->index->auto_buckets))
		return gcs_errno_of(rc);
	listing->first += (int64_t)listing->count;
	page_forget(listing);
	problem = page_take(listing, &page);
	if (problem)
		return problem;
	free(listing->next);
	listing->next = page.next;
	page.next = NULL;
	listing->is_begun = true;
	listing->is_last = !listing->next;
	return 0;
}

static void listing_rewind(struct gcs_listing *listing)
{
	page_forget(listing);
	free(listing->next);
	listing->next = NULL;
	listing->first = 0;
	listing->is_begun = listing->is_last = false;
}

int gcs_listing_at(struct gcs_listing *listing, pid_t caller, int64_t place,
		   const struct gcs_entry **ret_entry)
{
	*ret_entry = NULL;
	if (place < listing->first || place == 0)
		listing_rewind(listing);
	while (!listing->is_begun ||
	       (place >= listing->first + (int64_t)listing->count && !listing->is_last)) {
		int problem = gcs_caller_is_killed(caller) ? -EINTR : page_load(listing);

		if (problem)
			return problem;
	}
	if (place < listing->first + (int64_t)listing->count)
		*ret_entry = &listing->entries[place - listing->first];
	return 0;
}

int64_t gcs_listing_count(const struct gcs_listing *listing)
{
	return listing->first + (int64_t)listing->count;
}

int gcs_objects_each(const struct gcs_index *index, const char *bucket, const char *prefix,
		     int (*each)(void *arg, const char *object), void *arg)
{
	char *after = NULL;
	int problem = 0;

	do {
		struct object_page page AUTO_OBJECT_PAGE = { 0 };
		const struct object_query query = {
			.bucket = bucket, .prefix = prefix, .after = after, .most = PAGE_MOST
		};

		problem = gcs_errno_of(object_list(index->objects, &query, &page, NULL));
		for (size_t i = 0; !problem && i < page.count; i++)
			problem = each(arg, page.objects[i].name);
		free(after);
		after = page.next;
		page.next = NULL;
	} while (!problem && after);
	free(after);
	return problem;
}
