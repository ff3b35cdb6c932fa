/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/grpc/outcome.h: how a call ended, as headers of HTTP/2. Thread: the session's. */
#include <nghttp2/nghttp2.h>

#include "api/grpc/rpc.h"

#define HEADER(NAME, VALUE)                                                                                  \
	{                                                                                                    \
		(uint8_t *)(NAME), (uint8_t *)(VALUE), strlen(NAME), strlen(VALUE), NGHTTP2_NV_FLAG_NONE     \
	}

/* A failure needs headers alone; behind the messages of a feed they are trailers. */
enum ending { ENDING_WHOLE, ENDING_TRAILERS };
/* What nghttp2 says: 0, or its error. */
int outcome_submit(nghttp2_session *http2, int32_t id, const struct rpc_outcome *outcome, enum ending ending);
