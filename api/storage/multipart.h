/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/multipart.h: bodies of several parts, taken apart while they arrive, in pieces of any size.
 *
 * Lines end with CR LF or, as Python's mail generator writes them, with LF alone; the first boundary line tells.
 * What is between the head of a part and the next boundary is passed on at once: a few KiB are all that is kept.
 * A part's Content-Transfer-Encoding base64 is undone.
 * Pure. Thread: one at a time.
 * Source: RFC 2046 section 5.1; https://cloud.google.com/storage/docs/json_api/v1/how-tos/multipart-upload */
#include <stddef.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

struct multipart;

/* What the parts are told to. A failure ends the reading. */
struct multipart_sink {
	/* A part begins; its head is readable until it ends. */
	enum status (*begin)(void *arg, const struct multipart *multipart, struct error *err);
	enum status (*data)(void *arg, const char *data, size_t length, struct error *err);
	enum status (*end)(void *arg, struct error *err);
	void *arg;
};

/* @content_type: the request's, with its boundary. INVALID_ARGUMENT: it has none. */
enum status multipart_new(const char *content_type, const struct multipart_sink *sink,
			  struct multipart **ret_multipart, struct error *err);
/* INVALID_ARGUMENT: these are no parts. Once it has failed it fails again. */
enum status multipart_receive(struct multipart *multipart, const char *data, size_t length,
			      struct error *err);
/* No more bytes come. INVALID_ARGUMENT: the last boundary is missing. */
enum status multipart_finish(struct multipart *multipart, struct error *err);
void multipart_free(struct multipart *multipart);
DEFINE_AUTO(multipart, struct multipart *, multipart_free)

/* The value of a header of the part under way, in any case of letters; "" when absent. */
const char *multipart_header(const struct multipart *multipart, const char *name);

/* The value of a parameter ("boundary") of a media type, quoted or not; NULL when absent. The caller frees. */
char *media_type_parameter(const char *media_type, const char *name);
