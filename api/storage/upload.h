/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/upload.h: functions that all kinds of uploads use. Source:
 * https://cloud.google.com/storage/docs/uploads-downloads (read 2026-11-20) */
#include "api/storage/parts.h"
#include "daemon/base/text.h"

enum { RESOURCE_MAX_BYTES = 1 << 20 }; /* limit of the JSON in an upload */

/* The target of an upload, and its metadata. */
struct upload_form {
	struct object_form form;
	struct object_target target; /* borrows from the form and from the call */
};
#define AUTO_UPLOAD_FORM __attribute__((cleanup(upload_form_deinit)))
void upload_form_deinit(struct upload_form *form);

/* Reads the resource (JSON; no bytes: none), the query and X-Goog-Hash of an upload in the JSON API. @media_type: the
 * type of the bytes, if the resource has none; "" for application/octet-stream. INVALID_ARGUMENT: no name, or two; also
 * what object_form_parse() refuses. */
enum status upload_form_read(const struct call *call, const char *resource, size_t length,
			     const char *media_type, struct upload_form *ret_form, struct error *err);

/* "crc32c=n03x6A==,md5=Ojk9c3dhfxgoKVVHYwFbHQ==" and Content-MD5, from the request's headers. INVALID_ARGUMENT: they
 * are not checksums.
 * Source: https://cloud.google.com/storage/docs/xml-api/reference-headers#xgooghash */
struct checksums {
	bool has_crc32c, has_md5;
	uint32_t crc32c;
	unsigned char md5[16];
};
enum status checksums_read(const struct call *call, struct checksums *ret_checksums, struct error *err);
void checksums_target(const struct checksums *checksums, struct object_target *target);

/* Makes an intake that writes to an upload, which it owns from now on, even if the call fails. The handler calls
 * upload_intake_finish() to make the object. */
enum status upload_intake_begin(struct call *call, const struct object_target *target, struct error *err);
enum status upload_intake_finish(struct call *call, struct object *ret_object, struct error *err);

/* Appends a piece of a resource. INVALID_ARGUMENT: more than RESOURCE_MAX_BYTES. */
enum status resource_append(struct text *resource, const char *data, size_t length, struct error *err);
/* Begin to collect an upload's JSON resource from the body; return its text, for the handler. */
enum status resource_intake_begin(struct call *call, struct error *err);
const struct text *resource_intake_text(const struct call *call);

/* ---- the kinds; each has a begin and a handler ---- */

enum status upload_media_begin(struct call *call, struct error *err);
enum status upload_media(struct call *call, struct error *err);
enum status upload_multipart_begin(struct call *call, struct error *err);
enum status upload_multipart(struct call *call, struct error *err);
enum status upload_session_start(struct call *call, struct error *err); /* begin: resource_intake_begin() */
