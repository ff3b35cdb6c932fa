/* SPDX-License-Identifier: Apache-2.0 */
#include "api/grpc/outcome.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/base64.h"

enum {
	DETAILS_VARIANT = sodium_base64_VARIANT_ORIGINAL_NO_PADDING,
	TRAILER_BYTES_MAX = 3 << 10, /* clients accept 8 KiB for all trailers together */
};

/* Escapes all but printable ASCII without the percent sign; a text that is too long is not cut within an escape. */
static void message_write(struct text *text, const char *message)
{
	for (; *message && text->length + 3 <= TRAILER_BYTES_MAX; message++) {
		const unsigned char c = (unsigned char)*message;

		if (c >= ' ' && c <= '~' && c != '%')
			text_putc(text, (char)c);
		else
			text_printf(text, "%%%02X", c);
	}
}

int outcome_submit(nghttp2_session *http2, int32_t id, const struct rpc_outcome *outcome, enum ending ending)
{
	struct text message AUTO_TEXT = { 0 };
	struct text details AUTO_TEXT = { 0 };
	char code[12];

	if (sodium_base64_ENCODED_LEN(outcome->details.length, DETAILS_VARIANT) <= TRAILER_BYTES_MAX)
		base64_append(&details, outcome->details.data, outcome->details.length, DETAILS_VARIANT);
	snprintf(code, sizeof(code), "%u", outcome->code);
	message_write(&message, outcome->message.data ? outcome->message.data : "");
	const nghttp2_nv headers[] = {
		HEADER(":status", "200"),
		HEADER("content-type", "application/grpc"),
		HEADER("grpc-status", code),
		HEADER("grpc-message", message.data ? message.data : ""),
		HEADER("grpc-status-details-bin", details.data ? details.data : ""),
	};

	return ending == ENDING_TRAILERS
		       ? nghttp2_submit_trailer(http2, id, headers + 2, details.length ? 3 : 2)
		       : nghttp2_submit_response(http2, id, headers, details.length ? 5 : 4, NULL);
}
