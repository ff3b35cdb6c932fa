/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/bucket_parts.h: shared by the methods of buckets and objects that do not transfer bytes; see also
 * parts.h. Thread: any. */
#include "api/storage/parts.h"

struct writer;

/* Answers with the bucket. */
enum status bucket_answer(struct call *call, const struct bucket *bucket, struct error *err);
/* Its location, "US" by default; and its kind: "multi-region", "dual-region" or "region". Borrowed. */
const char *bucket_location(const struct bucket *bucket);
const char *location_type(const char *location);
/* The project in the query: the emulated one's number is replaced by its id; for a job the default is its own project.
 * INVALID_ARGUMENT: none is named. */
enum status project_read(const struct call *call, const char **ret_project, struct error *err);

/* Fails with 304 for a read, with 412 for others; or sets *ret_unchanged to false. */
enum status bucket_conditions_answer(struct call *call, const struct bucket *bucket, bool *ret_unchanged,
				     struct error *err);
struct conditions bucket_conditions_read(const struct call *call);
/* Sets FAILED_PRECONDITION with Cloud Storage's text. */
enum status error_conditions(struct error *err);

/* What happens to existing members: PATCH and PUT. */
enum change { CHANGE_MERGES, CHANGE_REPLACES };
/* One attempt at a change, which answers with the result. FAILED_PRECONDITION with *ret_again: another change came
 * first. */
typedef enum status (*change_try)(struct call *call, enum change change, const json_t *given, bool *ret_again,
				  struct error *err);
/* The rest of a PATCH or PUT row, around that. */
enum status resource_change(struct call *call, change_try try_once, enum change change, struct error *err);

/* @second below 0: there is none. */
void etag_make(int64_t first, int64_t second, char ret_etag[ETAG_SIZE]);

/* At most 8 KiB of custom metadata, and the limits of headers_size_check(). INVALID_ARGUMENT. */
enum status metadata_size_check(const json_t *resource, struct error *err);

/* maxResults: the default and the maximum are 1000. INVALID_ARGUMENT: below 0. */
enum status max_results_read(const struct call *call, unsigned *ret_most, struct error *err);
/* pageToken as the name to continue after: the caller's, NULL if there is none. INVALID_ARGUMENT: it is not a token. */
enum status list_token_read(const struct call *call, char **ret_after, struct error *err);
/* The member nextPageToken; NULL: the page is the last. */
void list_token_write(struct writer *answer, const char *next);

/* Refuses softDeleted=true, because deleted objects are gone. INVALID_ARGUMENT. */
enum status soft_deleted_refuse(const struct call *call, struct error *err);
