/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/grpc/outcome.h: sends the outcome of a call as HTTP/2 headers. Thread: the session's. */
#include <nghttp2/nghttp2.h>

#include "api/grpc/rpc.h"

#define HEADER(NAME, VALUE)                                                                                  \
	{                                                                                                    \
		(uint8_t *)(NAME), (uint8_t *)(VALUE), strlen(NAME), strlen(VALUE), NGHTTP2_NV_FLAG_NONE     \
	}

/* A failure consists of headers alone; after the messages of a feed they are trailers. */
enum ending { ENDING_WHOLE, ENDING_TRAILERS };
/* The result of nghttp2: 0, or its error. */
int outcome_submit(nghttp2_session *http2, int32_t id, const struct rpc_outcome *outcome, enum ending ending);
