/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/assemblies.h: uploads in parts, which the XML API calls multipart uploads; part of store/objects/objects.h.
 *
 * Parts come in any order, several at once, under numbers of the client's; one that comes again replaces the one
 * before. A finished part is kept, also over kill -9, and is not visible among the objects; at the end
 * the parts that the client names become one object, and the object's checksum is made of theirs. An assembly is kept for a week.
 * Source: https://cloud.google.com/storage/docs/multipart-uploads (read 2026-11-22)
 *
 * NOT_FOUND: the bucket, or "The requested upload was not found.": no such assembly of this object, or it has ended.
 * Errors of their own name the XML API's code as their reason ("InvalidPart"), and with the key "details" what goes
 * below its sentence. Thread: any, for every function here. */
#include "store/objects/objects.h"

enum { PART_NUMBER_MOST = 10000, PART_LEAST_BYTES = 5 << 20 /* of all but the last */ };
#define PART_MOST_BYTES   (INT64_C(5) << 30)
#define OBJECT_MOST_BYTES (INT64_C(5) << 40)

/* Which one. Strings are borrowed for the call. */
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

/* @target's conditions and checksums are not looked at: the service has none here. */
enum status assembly_begin(struct objects *objects, const struct object_target *target,
			   char ret_id[SESSION_ID_SIZE], struct error *err);
enum status assembly_get(struct objects *objects, const struct assembly_key *key,
			 struct assembly *ret_assembly, struct error *err);
/* With its parts. */
enum status assembly_delete(struct objects *objects, const struct assembly_key *key, struct error *err);

struct assembly_query {
	const char *bucket;
	const char *prefix;    /* NULL or "": all */
	const char *delimiter; /* NULL or "": none */
	/* The page's beginning: after all assemblies of this name, or after the one @after_id of them, or, where an
	 * earlier page ended with a prefix, after all names below it. NULL. */
	const char *after, *after_id;
	unsigned most; /* assemblies and prefixes together */
};
struct assembly_page {
	struct assembly *assemblies;
	size_t count;
	char **prefixes;
	size_t prefix_count;
	char *next, *next_id; /* NULL: that was all; next_id is "" after a prefix */
};
#define AUTO_ASSEMBLY_PAGE __attribute__((cleanup(assembly_page_deinit)))
void assembly_page_deinit(struct assembly_page *page);
/* By the bytes of the name, then by id. */
enum status assembly_list(struct objects *objects, const struct assembly_query *query,
			  struct assembly_page *ret_page, struct error *err);

/* ---- parts ---- */

struct part {
	unsigned number;
	int64_t size_bytes, created_us;
	uint32_t crc32c;
	unsigned char md5[16];
};

/* An upload for upload_write(), upload_expect_…() and upload_free(), which part_finish() ends rather than
 * upload_finish(). @number is from 1 to PART_NUMBER_MOST. */
enum status part_begin(struct objects *objects, const struct assembly_key *key, unsigned number,
		       struct upload **ret_upload, struct error *err);
/* INVALID_ARGUMENT: the bytes are not what was said. */
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

/* ---- the end ---- */

/* What a client says of a part. */
struct part_claim {
	unsigned number;
	bool has_md5; /* false: what was said can be no part's */
	unsigned char md5[16];
};

/* Makes the object; the assembly and all its parts are gone then. The file system joins the bytes where it can: for
 * that time they are there twice. INVALID_ARGUMENT: InvalidPart, InvalidPartOrder, EntityTooSmall, EntityTooLarge,
 * or no parts at all. ABORTED: a part was replaced meanwhile. A refused one stays as it was. */
enum status assembly_finish(struct objects *objects, const struct assembly_key *key,
			    const struct part_claim *claims, size_t count, struct object *ret_object,
			    struct error *err);
