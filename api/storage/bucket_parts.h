/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/bucket_parts.h: functions for the methods that transfer no bytes, of buckets and of objects; see
 * also parts.h. Thread: any. */
#include "api/storage/parts.h"

struct writer;

/* Answers with the bucket. */
enum status bucket_answer(struct call *call, const struct bucket *bucket, struct error *err);
/* The bucket's location, "US" by default; and its type: "multi-region", "dual-region" or "region". Borrowed. */
const char *bucket_location(const struct bucket *bucket);
const char *location_type(const char *location);
/* Reads the project from the query; the emulated project's number is replaced by its id. In requests of a job's
 * programs the default is the job's project. INVALID_ARGUMENT: the query has none. */
enum status project_read(const struct call *call, const char **ret_project, struct error *err);

/* Checks the conditions of a request: if they are not met, a read gets 304 (*ret_unchanged: return from the
 * handler), other methods fail with 412. */
enum status bucket_conditions_answer(struct call *call, const struct bucket *bucket, bool *ret_unchanged,
				     struct error *err);
struct conditions bucket_conditions_read(const struct call *call);
/* Sets FAILED_PRECONDITION with Cloud Storage's text. */
enum status error_conditions(struct error *err);

/* Existing members that a request does not name: PATCH keeps them, PUT removes them. */
enum change { CHANGE_MERGES, CHANGE_REPLACES };
/* Tries a change once, and answers with the result. FAILED_PRECONDITION with *ret_again: another change was stored
 * first. */
typedef enum status (*change_try)(struct call *call, enum change change, const json_t *given, bool *ret_again,
				  struct error *err);
/* Handles a PATCH or PUT: reads the body and calls @try_once until no other change is stored first. */
enum status resource_change(struct call *call, change_try try_once, enum change change, struct error *err);

/* Encodes one or two numbers; @second is left out if negative. */
void etag_make(int64_t first, int64_t second, char ret_etag[ETAG_SIZE]);

/* Limits custom metadata to 8 KiB, and members that become headers as headers_size_check() does.
 * INVALID_ARGUMENT. */
enum status metadata_size_check(const json_t *resource, struct error *err);

/* Reads maxResults: the default and the maximum are 1000. INVALID_ARGUMENT: it is negative. */
enum status max_results_read(const struct call *call, unsigned *ret_most, struct error *err);
/* Decodes pageToken to the name after which the page begins (the caller frees); NULL: the first page.
 * INVALID_ARGUMENT: it is not a token. */
enum status list_token_read(const struct call *call, char **ret_after, struct error *err);
/* Writes the member nextPageToken, unless @next is NULL: the page is the last. */
void list_token_write(struct writer *answer, const char *next);

/* Refuses softDeleted=true, because deleted objects are gone. INVALID_ARGUMENT. */
enum status soft_deleted_refuse(const struct call *call, struct error *err);
