/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/grpc/rpc.h: a call of gRPC as the request of HTTP that it stands for, and the answer back.
 *
 * Google's services say themselves which request each of their calls is (google.api.http): the call is a column of that
 * request's row. So both ways in have the same handlers, and the same words. Pure. Thread: any.
 * Source: https://github.com/googleapis/googleapis/blob/master/google/api/http.proto,
 *         https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md (read 2026-11-22) */
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "api/http/http.h"

/* The answer of a call that answers with many messages. Thread: the connection's. */
struct rpc_feed {
	/* @context: the family's; @request: the JSON of the request's body. @wake_fd: an eventfd to be written to, by any thread,
	 * when there may be something new, until close(). */
	enum status (*open)(void *context, const json_t *request, int wake_fd, void **ret_arg, struct error *err);
	/* Appends the JSON of the next message. None: *ret_wake_us, monotonic, is when to ask again at the latest. A failure ends
	 * the answer. Does not wait. */
	enum status (*next)(void *arg, struct text *text, int64_t *ret_wake_us, struct error *err);
	void (*close)(void *arg);
};

/* In the request's message stands what HTTP parts into path, query and body. The text of its field that the row's doc
 * names as resource is all of the row's path between the first segment and the end of the last {name}; the field of the
 * type of the row's body is the body, or what is left is, where body_root is ""; without a body, what is left is the
 * query. */
struct rpc {
	const char *path; /* "/google.cloud.aiplatform.v1.JobService/CreateCustomJob" */
	const struct message *request;
	/* Of a row without doc: what a doc would say. */
	const char *resource;
	const struct message *response;
	/* Where the row is for one of several places: what the resource is like in all of them. A star stands for one
	 * segment, two for one or more. NULL: it is as in the row's path. */
	const char *pattern;
	/* NULL: one message answers it. The row's handler is still called first, and its answer is what may refuse the call. */
	const struct rpc_feed *feed;
};

/* The row of the call that @path names; NULL: there is none. @families ends with a NULL name. */
const struct route *rpc_route_find(const struct family *families, const char *path);
/* The context of the family that @route is of. */
void *rpc_context_find(const struct family *families, const struct route *route);

struct rpc_request {
	struct text target, body; /* body: no bytes when there is none */
};
void rpc_request_deinit(struct rpc_request *request);
#define AUTO_RPC_REQUEST __attribute__((cleanup(rpc_request_deinit)))

/* @route: one with a call. INVALID_ARGUMENT: the bytes are no such message, or a name in it is not what the call is for: it might else reach
 * another method.
 * Source: https://github.com/googleapis/nodejs-tasks/issues/506 (the sentence; read 2026-11-22) */
enum status rpc_request_make(const struct route *route, const void *data, size_t length,
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
/* Of a failure that a feed ended with. */
void rpc_error_read(const struct error *err, struct rpc_outcome *outcome);
/* From the JSON of an answer, which ends with NUL, to the binary message, appended to @bytes, and the outcome. @any: as
 * message_to_binary(). */
void rpc_answer_read(const struct route *route, const struct message *const *any, unsigned http_status,
		     const char *json, size_t length, struct text *bytes, struct rpc_outcome *outcome);
