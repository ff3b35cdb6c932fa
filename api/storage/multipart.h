/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/multipart.h: parses multipart bodies while they arrive, in pieces of any size.
 *
 * Lines end with CR LF or, as Python's mail generator writes them, with LF alone; the first boundary line decides. The
 * bytes of a part are passed on at once: only a few KiB are kept. A part with Content-Transfer-Encoding base64 is
 * decoded. Pure. Thread: one at a time.
 * Source: RFC 2046 section 5.1; https://cloud.google.com/storage/docs/json_api/v1/how-tos/multipart-upload */
#include <stddef.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

struct multipart;

/* Callbacks for the parts. If one fails, the reading fails. */
struct multipart_sink {
	/* Called when a part begins; its headers can be read until the part ends. */
	enum status (*begin)(void *arg, const struct multipart *multipart, struct error *err);
	enum status (*data)(void *arg, const char *data, size_t length, struct error *err);
	enum status (*end)(void *arg, struct error *err);
	void *arg;
};

/* Makes a parser. @content_type: the request's, with the parameter boundary. INVALID_ARGUMENT: it has none. */
enum status multipart_new(const char *content_type, const struct multipart_sink *sink,
			  struct multipart **ret_multipart, struct error *err);
/* Parses the next bytes. INVALID_ARGUMENT: malformed. After a failure every call fails. */
enum status multipart_receive(struct multipart *multipart, const char *data, size_t length,
			      struct error *err);
/* Call after the last bytes. INVALID_ARGUMENT: the last boundary is missing. */
enum status multipart_finish(struct multipart *multipart, struct error *err);
void multipart_free(struct multipart *multipart);
DEFINE_AUTO(multipart, struct multipart *, multipart_free)

/* Returns a header of the current part, by its name in any case; "" if absent. */
const char *multipart_header(const struct multipart *multipart, const char *name);

/* Returns a parameter of a media type, such as "boundary", without quotes; NULL if absent. The caller frees. */
char *media_type_parameter(const char *media_type, const char *name);
