/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/objects.h: buckets and objects like Cloud Storage's, in a directory of this machine.
 *
 *   STATE/storage.db   the index: buckets, objects, sessions, parts. WAL; one writer thread, group commit.
 *   STATE/blobs/       the bytes of objects, one file each, under names of our own, never changed
 *   STATE/uploads/     the bytes of uploads under way
 *   STATE/gs/BUCKET/…  the live objects as files for people and plain tools (hard links to blobs), under
 *                      names that file_name.h makes safe; written after the index, never read by trainyard
 *
 * An object appears, whole, when its upload ends, and not before; what was answered survives kill -9. (After a
 * power loss, bytes of the last moments may be missing: reading such an object is DATA_LOSS, never short.)
 * Bytes are written while they arrive and hashed on a second thread, so memory is bounded.
 * Uploads in parts are in store/objects/assemblies.h.
 * The files are opened when they are first used. Thread: any, for every function here; an upload or a reader may be
 * used by only one thread at a time.
 *
 * Errors carry Cloud Storage's own sentences ("No such object: b/o"), so the API need not add anything, and
 * where a status may mean several things, the XML API's code as reason ("NoSuchKey").
 * UNAVAILABLE or RESOURCE_EXHAUSTED (507: the disk is full) leave nothing half done. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/clock.h"
#include "daemon/base/error.h"

struct objects;

struct objects_options {
	const char *state_dir;
	const struct clock *clock;
	/* The project of buckets that are made on first use; NULL: none is made, and an upload to a missing bucket is
	 * NOT_FOUND. */
	const char *auto_project;
	/* For a process beside the one that serves the state directory: it reads the objects of the other process, also
	 * while that one stores more. All changes are FAILED_PRECONDITION; only the other process calls
	 * objects_prepare(). */
	bool reads_only;
};

enum status objects_new(const struct objects_options *options, struct objects **ret_objects,
			struct error *err);
/* Opens everything now instead of at first use, so that processes that only read find it. */
enum status objects_prepare(struct objects *objects, struct error *err);
/* Removes remnants of an earlier process: interrupted uploads, unfinished work on files, expired sessions. Makes
 * nothing in a state directory without objects. A failure is logged, and returned to the next caller that uses the
 * store. */
void objects_recover(struct objects *objects);
/* Finishes writes and closes. No call may be running. NULL is harmless. */
void objects_free(struct objects *objects);

/* The number of changes since this process started. If a caller reads it before and after and finds the same number,
 * nothing has changed in between. 0 before the first change. */
uint64_t objects_change_count(const struct objects *objects);
/* A generation that every object stored from now on reaches or exceeds, whatever the clock says, also after a power
 * loss. Waits for the disk. 0: unknown, because of a failure. */
int64_t objects_next_generation(struct objects *objects);

/* ---- conditions ---- */

/* The preconditions of a request; -1: not given. A generation of 0 means "there is no object". Source:
 * https://cloud.google.com/storage/docs/request-preconditions */
struct conditions {
	int64_t generation_match, generation_not_match;
	int64_t metageneration_match, metageneration_not_match;
};
#define CONDITIONS_NONE                                                                                      \
	{                                                                                                    \
		-1, -1, -1, -1                                                                               \
	}

enum condition_outcome {
	CONDITIONS_HOLD,
	CONDITIONS_FAILED,   /* 412 */
	CONDITIONS_UNCHANGED /* a ...NotMatch condition matches: 304 for a read, 412 for a write */
};

/* Checks the conditions against an object. @generation 0: there is no object. Pure. */
enum condition_outcome conditions_check(const struct conditions *conditions, int64_t generation,
					int64_t metageneration);

/* ---- buckets ---- */

struct bucket {
	char *name;
	char *project;
	int64_t created_us, updated_us;
	int64_t metageneration;
	json_t *metadata; /* from clients: location, storageClass, labels, versioning …; never NULL */
};

#define AUTO_BUCKET __attribute__((cleanup(bucket_deinit)))
void bucket_deinit(struct bucket *bucket);

/* 3 to 63 bytes (222 with dots) of lowercase letters, digits, '-', '_' and '.', and the other rules.
 * Source: https://cloud.google.com/storage/docs/buckets#naming */
bool bucket_name_valid(const char *name);
/* Why @name cannot be the name of any bucket, as the rest of a sentence ("is too short: …"); NULL: it can. */
const char *bucket_name_fault(const char *name);
/* Whether only Google can have a bucket of this name. */
bool bucket_name_is_googles(const char *name);

/* ALREADY_EXISTS, INVALID_ARGUMENT: the name. @metadata is borrowed, NULL: an empty object. @ret_bucket may be NULL. */
enum status bucket_insert(struct objects *objects, const char *project, const char *name,
			  const json_t *metadata, struct bucket *ret_bucket, struct error *err);
/* NOT_FOUND. */
enum status bucket_get(struct objects *objects, const char *name, struct bucket *ret_bucket,
		       struct error *err);
/* Replaces the metadata. FAILED_PRECONDITION: a condition on the metageneration does not hold; conditions on the
 * generation are ignored. */
enum status bucket_update(struct objects *objects, const char *name, const struct conditions *conditions,
			  const json_t *metadata, struct bucket *ret_bucket, struct error *err);
/* Deletes an empty bucket. FAILED_PRECONDITION: a condition does not hold; ABORTED: the bucket is not empty
 * (HTTP status 409). */
enum status bucket_delete(struct objects *objects, const char *name, const struct conditions *conditions,
			  struct error *err);

struct bucket_page {
	struct bucket *buckets;
	size_t count;
	char *next; /* name to continue after, or NULL */
};
void bucket_page_deinit(struct bucket_page *page);
#define AUTO_BUCKET_PAGE __attribute__((cleanup(bucket_page_deinit)))
/* Lists buckets by name. @prefix and @after may be NULL. */
enum status bucket_list(struct objects *objects, const char *project, const char *prefix, const char *after,
			unsigned most, struct bucket_page *ret_page, struct error *err);

/* Makes the bucket if it is missing and buckets are made on first use; otherwise NOT_FOUND. */
enum status bucket_ensure(struct objects *objects, const char *name, struct error *err);

/* ---- objects ---- */

struct object {
	char *bucket, *name;
	int64_t generation, metageneration;
	int64_t size_bytes;
	int64_t created_us, updated_us;
	char *content_type; /* NULL: none was given */
	json_t *metadata; /* further members from clients: contentEncoding, cacheControl, metadata {…} …; never NULL */
	uint32_t crc32c;
	bool has_md5; /* false for composed objects */
	unsigned char md5[16];
	unsigned component_count; /* 0: not composed */
};

#define AUTO_OBJECT __attribute__((cleanup(object_deinit)))
void object_deinit(struct object *object);

/* 1 to 1024 bytes of UTF-8 without CR, LF and NUL, not "." or "..", not below ".well-known/acme-challenge/".
 * Source: https://cloud.google.com/storage/docs/objects#naming */
bool object_name_valid(const char *name);
/* INVALID_ARGUMENT in Cloud Storage's words. */
enum status object_name_check(const char *name, struct error *err);

/* For all functions below: @generation 0 is the live one; another generation than the object's is NOT_FOUND. */

/* NOT_FOUND. The caller checks the conditions of reads: conditions_check(). */
enum status object_get(struct objects *objects, const char *bucket, const char *name, int64_t generation,
		       struct object *ret_object, struct error *err);
/* The object and the directory that a file system shows under a name. */
struct object_view {
	bool is_object;
	struct object object; /* if @is_object */
	bool is_directory;    /* the names of some objects begin with the name and a slash */
	int64_t directory_us; /* last change of the object with the name and a slash; 0: there is none */
};
#define AUTO_OBJECT_VIEW __attribute__((cleanup(object_view_deinit)))
void object_view_deinit(struct object_view *view);
/* Looks for an object and for a directory in one transaction. Without the bucket there is neither. */
enum status object_view_get(struct objects *objects, const char *bucket, const char *name,
			struct object_view *ret_view, struct error *err);

/* Replaces content type and metadata, keeps the bytes. NOT_FOUND, FAILED_PRECONDITION. */
enum status object_update(struct objects *objects, const char *bucket, const char *name, int64_t generation,
			  const struct conditions *conditions, const char *content_type,
			  const json_t *metadata, struct object *ret_object, struct error *err);
enum status object_delete(struct objects *objects, const char *bucket, const char *name, int64_t generation,
			  const struct conditions *conditions, struct error *err);

/* An object to be made: where, with which conditions and metadata. Strings are borrowed for the call. */
struct object_target {
	const char *bucket, *name;
	struct conditions conditions;
	const char *content_type; /* NULL: none */
	const json_t *metadata;   /* NULL: none */
	/* The client's checksums; if one does not match, the result is INVALID_ARGUMENT and no object is made. */
	bool expects_crc32c, expects_md5;
	uint32_t crc32c;
	unsigned char md5[16];
};

/* Copies an object without copying its bytes, which both share. Uses the target's content_type and metadata if
 * @replaces_metadata, otherwise the source's. */
enum status object_copy(struct objects *objects, const char *bucket, const char *name, int64_t generation,
			const struct conditions *source_conditions, const struct object_target *target,
			bool replaces_metadata, struct object *ret_object, struct error *err);

struct compose_source {
	const char *name;
	int64_t generation;       /* 0: the live one */
	int64_t generation_match; /* -1: nothing is said */
};
/* Joins up to 32 objects of the target's bucket. */
enum status object_compose(struct objects *objects, const struct compose_source *sources, size_t count,
			   const struct object_target *target, struct object *ret_object, struct error *err);

struct object_query {
	const char *bucket;
	const char *prefix;      /* NULL or "": all */
	const char *delimiter;   /* NULL or "": none */
	bool trailing_delimiter; /* objects with names that end with the delimiter are also items, not only prefixes */
	const char *start, *end; /* only names from start on, and before end; NULL: no limit */
	const char *after;       /* the page begins after this: next of the page before; NULL: the first page */
	const char *match_glob;  /* NULL: none. "**" crosses slashes. INVALID_ARGUMENT: not a pattern */
	/* limit of items and prefixes together; one more if an item and a prefix have the same name */
	unsigned most;
};
struct object_page {
	struct object *objects;
	size_t count;
	char **prefixes;
	size_t prefix_count;
	char *next; /* name or prefix to continue after, up to 1024 bytes; NULL: this is the last page */
};
void object_page_deinit(struct object_page *page);
#define AUTO_OBJECT_PAGE __attribute__((cleanup(object_page_deinit)))
/* In the order of the names' bytes. A prefix costs one look-up, however many objects are below it. If a match_glob
 * matches few names, a page may have fewer elements than allowed, even none, and yet not be the last. NOT_FOUND. */
enum status object_list(struct objects *objects, const struct object_query *query,
			struct object_page *ret_page, struct error *err);

/* ---- reading ---- */

struct object_reader;
/* An opened object stays readable, even if it is replaced or deleted. */
enum status object_open(struct objects *objects, const char *bucket, const char *name, int64_t generation,
			struct object_reader **ret_reader, struct error *err);
const struct object *object_reader_object(const struct object_reader *reader);
/* The number of bytes from @offset; 0: the end; -1: failed, see *err. */
ssize_t object_read(struct object_reader *reader, int64_t offset, char *buffer, size_t size,
		    struct error *err);
/* The file with the bytes, from its beginning; belongs to the reader. */
int object_reader_file(const struct object_reader *reader);
/* Copies all bytes to another file, at @to_offset, by the file system if it can. */
enum status object_reader_append(struct object_reader *reader, int to_fd, int64_t to_offset,
				 struct error *err);
void object_reader_close(struct object_reader *reader);
DEFINE_AUTO(object_reader, struct object_reader *, object_reader_close)

/* ---- writing ---- */

struct upload;
/* Checks bucket, name and conditions first, so that a client need not send bytes that would be refused. */
enum status upload_begin(struct objects *objects, const struct object_target *target,
			 struct upload **ret_upload, struct error *err);
enum status upload_write(struct upload *upload, const char *data, size_t length, struct error *err);
/* Set a checksum that the bytes must have; may be called after the bytes were written. */
void upload_expect_crc32c(struct upload *upload, uint32_t crc32c);
void upload_expect_md5(struct upload *upload, const unsigned char md5[16]);
/* The conditions are checked again, in the transaction that makes the object. */
enum status upload_finish(struct upload *upload, struct object *ret_object, struct error *err);
/* Frees the upload. Unless upload_finish() made the object, the bytes are removed, except those of a session. */
void upload_free(struct upload *upload);
DEFINE_AUTO(upload, struct upload *, upload_free)

/* ---- resumable sessions ---- */

enum { SESSION_ID_SIZE = 65 };

/* Kept for a week with the bytes that arrived, also across restarts. Only one upload at a time may write to a session:
 * a second one takes over, and the next write of the first fails with ABORTED. */
struct session {
	char *bucket, *name;
	int64_t received_bytes;
	int64_t total_bytes; /* -1: not known */
	bool finished;       /* object is the answer to further requests, for a week */
	struct object object;
};
#define AUTO_SESSION __attribute__((cleanup(session_deinit)))
void session_deinit(struct session *session);

/* Begins a session. @total_bytes -1: unknown. */
enum status session_begin(struct objects *objects, const struct object_target *target, int64_t total_bytes,
			  char ret_id[SESSION_ID_SIZE], struct error *err);
/* Reads a session. NOT_FOUND: it never existed, was cancelled, or is too old. */
enum status session_get(struct objects *objects, const char *id, struct session *ret_session,
			struct error *err);
/* An upload that continues at @offset, at most received_bytes (OUT_OF_RANGE: beyond). Bytes that are there already are
 * ignored, as in the service. ABORTED: the session has finished. If finishing fails because of wrong bytes or
 * conditions, the session ends. */
enum status session_resume(struct objects *objects, const char *id, int64_t offset,
			   struct upload **ret_upload, struct error *err);
/* Ends one request's part of a session: written bytes are kept, and the upload is freed. upload_free() does the same
 * for an upload of a session; upload_finish() makes the object. */
enum status session_park(struct upload *upload, int64_t *ret_received_bytes, struct error *err);
enum status session_delete(struct objects *objects, const char *id, struct error *err);
