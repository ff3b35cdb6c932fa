/* SPDX-License-Identifier: Apache-2.0 */
#include "store/objects/objects_clear.h"

#include "store/objects/objects.h"
#include "store/objects/objects_parts.h"

static const struct conditions none = CONDITIONS_NONE;

/* Finds any bucket. NULL: there is none. */
static enum status bucket_find(struct objects *objects, char **ret_name, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	bool found = false;
	enum status rc = objects_read(objects, &reader, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *row = connection_statement(reader.connection, BUCKET_FIRST);
	rc = statement_step(row, &found, err);
	*ret_name = !rc && found ? column_copy(row, 0) : NULL;
	return rc;
}

/* Turns NOT_FOUND into OK: another request has removed the bucket or object meanwhile. */
static enum status gone_is_good(enum status rc)
{
	return rc == STATUS_NOT_FOUND ? STATUS_OK : rc;
}

/* Removes at most @most objects of a bucket. *ret_emptied: the bucket has no object any more. */
static enum status bucket_empty(struct objects *objects, const char *bucket, unsigned most, uint64_t *removed,
				bool *ret_emptied, struct error *err)
{
	struct object_page page AUTO_OBJECT_PAGE = { 0 };
	enum status rc =
		object_list(objects, &(struct object_query){ .bucket = bucket, .most = most }, &page, err);

	for (size_t i = 0; !rc && i < page.count; i++) {
		rc = gone_is_good(object_delete(objects, bucket, page.objects[i].name, 0, &none, err));
		*removed += !rc;
	}
	*ret_emptied = !page.next;
	return gone_is_good(rc);
}

enum status objects_clear(struct objects *objects, unsigned most, uint64_t *removed, bool *ret_more,
			  struct error *err)
{
	AUTO(string) char *bucket = NULL;
	bool emptied = false;
	enum status rc = bucket_find(objects, &bucket, err);

	*ret_more = bucket != NULL;
	if (rc || !bucket)
		return rc;
	rc = bucket_empty(objects, bucket, most, removed, &emptied, err);
	if (!rc && emptied)
		rc = gone_is_good(bucket_delete(objects, bucket, &none, err));
	/* ABORTED: an object was stored meanwhile. The next call removes it. */
	return rc == STATUS_ABORTED ? STATUS_OK : rc;
}

enum status objects_are_any(struct objects *objects, bool *ret_any, struct error *err)
{
	AUTO(string) char *bucket = NULL;
	enum status rc = bucket_find(objects, &bucket, err);

	*ret_any = bucket != NULL;
	return rc;
}
