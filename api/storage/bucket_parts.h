/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/bucket_parts.h: what the methods of buckets and of objects share beside parts.h, but those about bytes
 * do not need. Thread: any. */
#include "api/storage/parts.h"

struct writer;

/* The answer is the bucket. */
enum status bucket_answer(struct call *call, const struct bucket *bucket, struct error *err);
/* Where it is, "US" unless told; and "multi-region", "dual-region" or "region" of such a name. Borrowed. */
const char *bucket_location(const struct bucket *bucket);
const char *location_type(const char *location);
/* The project of the query: the emulated one's number is its id; a job that names none means its own.
 * INVALID_ARGUMENT: none is named. */
enum status project_read(const struct call *call, const char **ret_project, struct error *err);

/* Fails with 304 for a read, with 412 for others; or sets *ret_unchanged to false. */
enum status bucket_conditions_answer(struct call *call, const struct bucket *bucket, bool *ret_unchanged,
				     struct error *err);
struct conditions bucket_conditions_read(const struct call *call);
/* Sets FAILED_PRECONDITION, as Cloud Storage words it. */
enum status error_conditions(struct error *err);

/* What becomes of what is there already: PATCH and PUT. */
enum change { CHANGE_MERGES, CHANGE_REPLACES };
/* One try of a change, answered with what it made. FAILED_PRECONDITION with *ret_again: someone else was faster. */
typedef enum status (*change_try)(struct call *call, enum change change, const json_t *given, bool *ret_again,
				  struct error *err);
/* The whole of a PATCH or PUT row but for that. */
enum status resource_change(struct call *call, change_try try_once, enum change change, struct error *err);

/* @second below 0: there is none. */
void etag_make(int64_t first, int64_t second, char ret_etag[ETAG_SIZE]);

/* 8 KiB of custom metadata at most, and what headers_size_check() asks for. INVALID_ARGUMENT. */
enum status metadata_size_check(const json_t *resource, struct error *err);

/* maxResults: 1000 unless told, and at most. INVALID_ARGUMENT: below 0. */
enum status max_results_read(const struct call *call, unsigned *ret_most, struct error *err);
/* pageToken as the name to go on after: the caller's, NULL when none is given. INVALID_ARGUMENT: it is none. */
enum status list_token_read(const struct call *call, char **ret_after, struct error *err);
/* The member nextPageToken; NULL: the page is the last. */
void list_token_write(struct writer *answer, const char *next);

/* softDeleted=true: what is deleted is gone. INVALID_ARGUMENT. */
enum status soft_deleted_refuse(const struct call *call, struct error *err);
