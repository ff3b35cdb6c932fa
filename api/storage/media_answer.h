/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/media_answer.h: answers with an object's bytes and the headers about it.
 * Source: https://cloud.google.com/storage/docs/xml-api/reference-headers (read 2026-11-20) */
#include "api/storage/parts.h"

/* The API of a request: the two differ in an object's headers and in how they refuse ranges. */
enum media_dialect { MEDIA_JSON, MEDIA_XML };

/* The ETag header. In the XML API it is the MD5 in hex, quoted; for composed objects, which have none, and in the JSON
 * API it is the resource's etag. Source: https://cloud.google.com/storage/docs/hashes-etags#etags */
enum { MEDIA_ETAG_SIZE = ETAG_SIZE + 8 };
void media_etag_write(const struct object *object, enum media_dialect dialect,
		      char ret_etag[MEDIA_ETAG_SIZE]);
/* Adds the header x-goog-hash. */
void media_hashes_say(struct call *call, const struct object *object);
/* Adds the headers that identify the object: ETag, generation, checksums and others. */
void media_identity_say(struct call *call, enum media_dialect dialect, const struct object *object);

/* Answers with the bytes of the request's Range, or all bytes; decompressed for clients that do not accept gzip.
 * HTTP status: 200, 206, 304 (If-None-Match, If-Modified-Since), 416. FAILED_PRECONDITION: If-Match,
 * If-Unmodified-Since. Takes over @reader, even if it fails. */
enum status media_answer(struct call *call, enum media_dialect dialect, struct object_reader *reader,
			 struct error *err);
