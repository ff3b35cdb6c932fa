/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/grpc/outcome.h: sends the outcome of a call as HTTP/2 headers. Thread: the session's. */
#include <nghttp2/nghttp2.h>

#include "api/grpc/rpc.h"

#define HEADER(NAME, VALUE)                                                                                  \
	{                                                                                                    \
		(uint8_t *)(NAME), (uint8_t *)(VALUE), strlen(NAME), strlen(VALUE), NGHTTP2_NV_FLAG_NONE     \
	}

/* ENDING_WHOLE: the answer is a failure without messages, sent as headers alone. ENDING_TRAILERS: the outcome
 * follows messages. */
enum ending { ENDING_WHOLE, ENDING_TRAILERS };
/* Returns the result of nghttp2: 0, or its error code. */
int outcome_submit(nghttp2_session *http2, int32_t id, const struct rpc_outcome *outcome, enum ending ending);
