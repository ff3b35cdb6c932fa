/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/media_answer.h: an object's bytes as an answer, with what its headers tell of it.
 * Source: https://cloud.google.com/storage/docs/xml-api/reference-headers (read 2026-11-20) */
#include "api/storage/parts.h"

/* The two families tell an object's headers and refuse ranges each in their own way. */
enum media_dialect { MEDIA_JSON, MEDIA_XML };

/* The ETag header. The XML API's is the MD5 in hex, and quoted; of composed objects, which have none, and in the JSON
 * API it is the resource's. Source: https://cloud.google.com/storage/docs/hashes-etags#etags */
enum { MEDIA_ETAG_SIZE = ETAG_SIZE + 8 };
void media_etag_write(const struct object *object, enum media_dialect dialect,
		      char ret_etag[MEDIA_ETAG_SIZE]);
/* The header x-goog-hash. */
void media_hashes_say(struct call *call, const struct object *object);
/* Says in headers which object it is: ETag, generation, checksums … */
void media_identity_say(struct call *call, enum media_dialect dialect, const struct object *object);

/* Answers with the bytes that the request's Range names, or all, unpacked where the client does not take gzip:
 * 200, 206, 304 (If-None-Match, If-Modified-Since), 416. FAILED_PRECONDITION: If-Match, If-Unmodified-Since.
 * @reader is taken, whatever becomes of it. */
enum status media_answer(struct call *call, enum media_dialect dialect, struct object_reader *reader,
			 struct error *err);
