/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/assemblies.h: uploads in parts, called multipart uploads in the XML API; part of
 * store/objects/objects.h.
 *
 * Parts come in any order, several at once, under numbers chosen by the client; a repeated part replaces the earlier
 * one. A finished part survives kill -9, and is not visible among the objects; at the end the parts that the client
 * names become one object, with a checksum computed from theirs. An assembly is kept for a week.
 * Source: https://cloud.google.com/storage/docs/multipart-uploads (read 2026-11-22)
 *
 * NOT_FOUND: the bucket, or "The requested upload was not found.": the object has no such assembly, or it has ended.
 * Errors that only uploads in parts have carry the XML API's code as their reason ("InvalidPart"), and under the key
 * "details" the text for the element <Details> of the answer. Thread: any, for every function here. */
#include "store/objects/objects.h"

enum { PART_NUMBER_MOST = 10000, PART_LEAST_BYTES = 5 << 20 /* of all but the last */ };
#define PART_MOST_BYTES   (INT64_C(5) << 30)
#define OBJECT_MOST_BYTES (INT64_C(5) << 40)

/* Identifies an assembly. Strings are borrowed for the call. */
struct assembly_key {
	const char *bucket, *name, *id;
};

struct assembly {
	char id[SESSION_ID_SIZE];
	char *name;
	char *storage_class; /* NULL: none was given */
	int64_t created_us;
};
#define AUTO_ASSEMBLY __attribute__((cleanup(assembly_deinit)))
void assembly_deinit(struct assembly *assembly);

/* Begins an assembly. @target's conditions and checksums are ignored: the service has none here. */
enum status assembly_begin(struct objects *objects, const struct object_target *target,
			   char ret_id[SESSION_ID_SIZE], struct error *err);
enum status assembly_get(struct objects *objects, const struct assembly_key *key,
			 struct assembly *ret_assembly, struct error *err);
/* Deletes the assembly with its parts. */
enum status assembly_delete(struct objects *objects, const struct assembly_key *key, struct error *err);

struct assembly_query {
	const char *bucket;
	const char *prefix;    /* NULL or "": all */
	const char *delimiter; /* NULL or "": none */
	/* The position at which the page begins, as next and next_id of the page before. @after NULL: the list's
	 * beginning. @after is a name: after all its assemblies, or, if @after_id is given, after the one with that id.
	 * @after is a prefix that ended the page before: after all names that begin with it. */
	const char *after, *after_id;
	unsigned most; /* limit of assemblies and prefixes together */
};
struct assembly_page {
	struct assembly *assemblies;
	size_t count;
	char **prefixes;
	size_t prefix_count;
	char *next, *next_id; /* NULL: end of the list; next_id is "" after a prefix */
};
#define AUTO_ASSEMBLY_PAGE __attribute__((cleanup(assembly_page_deinit)))
void assembly_page_deinit(struct assembly_page *page);
/* Lists assemblies in the order of the bytes of their names, then of their ids. */
enum status assembly_list(struct objects *objects, const struct assembly_query *query,
			  struct assembly_page *ret_page, struct error *err);

/* ---- parts ---- */

struct part {
	unsigned number;
	int64_t size_bytes, created_us;
	uint32_t crc32c;
	unsigned char md5[16];
};

/* An upload for upload_write(), upload_expect_…() and upload_free(), to be ended by part_finish() instead of
 * upload_finish(). @number is from 1 to PART_NUMBER_MOST. */
enum status part_begin(struct objects *objects, const struct assembly_key *key, unsigned number,
		       struct upload **ret_upload, struct error *err);
/* Ends the upload of a part. INVALID_ARGUMENT: a checksum does not match. */
enum status part_finish(struct upload *upload, struct part *ret_part, struct error *err);

struct part_page {
	struct part *parts; /* by number; the caller frees */
	size_t count;
	bool more;
};
#define AUTO_PART_PAGE __attribute__((cleanup(part_page_deinit)))
void part_page_deinit(struct part_page *page);
enum status part_list(struct objects *objects, const struct assembly_key *key, unsigned after, unsigned most,
		      struct part_page *ret_page, struct error *err);

/* ---- completing an assembly ---- */

/* A part as named by the client. */
struct part_claim {
	unsigned number;
	bool has_md5; /* false: the client's text cannot be a part's MD5 */
	unsigned char md5[16];
};

/* Makes the object and removes the assembly with all its parts. The bytes are copied, by the file system if it can, so
 * for a moment they exist twice. INVALID_ARGUMENT: InvalidPart, InvalidPartOrder, EntityTooSmall, EntityTooLarge, or no
 * parts at all. ABORTED: a part was replaced meanwhile. After a refusal the assembly is unchanged. */
enum status assembly_finish(struct objects *objects, const struct assembly_key *key,
			    const struct part_claim *claims, size_t count, struct object *ret_object,
			    struct error *err);
