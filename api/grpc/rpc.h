/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/grpc/rpc.h: a call of gRPC as the request of HTTP that it stands for, and the answer back.
 *
 * Google's services say themselves which request each of their calls is (google.api.http); the rows repeat that. So
 * both ways in have the same handlers, and the same words. Pure. Thread: any.
 * Source: https://github.com/googleapis/googleapis/blob/master/google/api/http.proto,
 *         https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md (read 2026-11-22) */
#include <stddef.h>

#include "api/message/message.h"
#include "daemon/base/error.h"
#include "daemon/base/text.h"

struct rpc {
	const char *path; /* "/google.cloud.aiplatform.v1.JobService/CreateCustomJob" */
	const struct message *request, *response;
	const char *method; /* "POST" */
	/* {field=pattern} is the whole of a text of the request, slashes too: "/v1/{parent=projects/...}/things". In the
	 * pattern a star stands for one segment, two for one or more. */
	const char *target;
	/* The field that is the body; "*": what is not in the target; NULL: none, and that is the query. */
	const char *body;
};

struct rpc_request {
	struct text target, body; /* body: no bytes when there is none */
};
void rpc_request_deinit(struct rpc_request *request);
#define AUTO_RPC_REQUEST __attribute__((cleanup(rpc_request_deinit)))

/* INVALID_ARGUMENT: the bytes are no such message, or a name in it is not what the call is for: it might else reach
 * another method.
 * Source: https://github.com/googleapis/nodejs-tasks/issues/506 (the sentence; read 2026-11-22) */
enum status rpc_request_make(const struct rpc *rpc, const void *data, size_t length,
			     struct rpc_request *ret_request, struct error *err);

/* The numbers of google.rpc.Code; those of gRPC are the same. */
enum {
	GRPC_OK = 0,
	GRPC_UNKNOWN = 2,
	GRPC_INVALID_ARGUMENT = 3,
	GRPC_RESOURCE_EXHAUSTED = 8,
	GRPC_UNIMPLEMENTED = 12,
	GRPC_INTERNAL = 13,
	GRPC_UNAVAILABLE = 14
};

struct rpc_outcome {
	unsigned code;       /* GRPC_OK: the message is the answer */
	struct text message; /* of a failure: what went wrong */
	struct text details; /* of a failure: google.rpc.Status, binary; no bytes: none */
};
void rpc_outcome_deinit(struct rpc_outcome *outcome);
#define AUTO_RPC_OUTCOME __attribute__((cleanup(rpc_outcome_deinit)))
/* What the emulator itself says of a call that got no answer. */
void rpc_outcome_fail(struct rpc_outcome *outcome, unsigned code, const char *text);

/* Of an answer's JSON that is not a success. */
void rpc_refusal_read(unsigned http_status, const char *json, size_t length, struct rpc_outcome *outcome);
/* From the JSON of an answer to the binary message, appended to @bytes, and the outcome. @any: as message_to_binary(). */
void rpc_answer_read(const struct rpc *rpc, const struct message *const *any, unsigned http_status,
		     const char *json, size_t length, struct text *bytes, struct rpc_outcome *outcome);
