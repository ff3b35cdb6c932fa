/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/response.h"

#include <stdlib.h>

#include "api/http/exchange.h"
#include "api/http/stream.h"

static void response_close(struct MHD_Response *response)
{
	MHD_destroy_response(response);
}

DEFINE_AUTO(response, struct MHD_Response *, response_close)

static bool headers_add(struct MHD_Response *response, const struct exchange *exchange, bool last)
{
	const struct {
		const char *name, *value;
	} headers[] = {
		{ MHD_HTTP_HEADER_CONTENT_TYPE,
		  headers_find(exchange, MHD_HTTP_HEADER_CONTENT_TYPE) ? NULL : exchange->content_type },
		{ MHD_HTTP_HEADER_VARY, "Origin, X-Origin, Referer" },
		{ "X-Content-Type-Options", "nosniff" },
		{ MHD_HTTP_HEADER_ALLOW,
		  exchange->refusal == REFUSAL_METHOD_NOT_ALLOWED ? exchange->match.allow : NULL },
		{ MHD_HTTP_HEADER_WWW_AUTHENTICATE, exchange->http_status == 401 ? ERROR_CHALLENGE : NULL },
		{ MHD_HTTP_HEADER_CONNECTION, last ? "close" : NULL },
	};

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		if (headers[i].value &&
		    MHD_add_response_header(response, headers[i].name, headers[i].value) != MHD_YES)
			return false;
	return true;
}

static bool headers_add_own(struct MHD_Response *response, const struct exchange *exchange)
{
	for (size_t i = 0; i < exchange->header_count; i++)
		if (MHD_add_response_header(response, exchange->headers[i].name,
					    exchange->headers[i].value) != MHD_YES)
			return false;
	return true;
}

/* The exchange keeps the text, because libmicrohttpd reports the end of a request only when all of it is sent. */
static struct MHD_Response *text_response(const struct text *answer)
{
	if (answer->failed)
		return NULL;
	return MHD_create_response_from_buffer(answer->length, answer->length ? answer->data : (void *)"",
					       MHD_RESPMEM_PERSISTENT);
}

enum MHD_Result response_queue(struct MHD_Connection *connection, struct exchange *exchange, bool last)
{
	AUTO(response)
	struct MHD_Response *response = stream_is_used(exchange) ? stream_response(connection, exchange)
								 : text_response(&exchange->answer);

	if (!response || !headers_add(response, exchange, last) || !headers_add_own(response, exchange))
		return MHD_NO;
	return MHD_queue_response(connection, exchange->http_status, response);
}
