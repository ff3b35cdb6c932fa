/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/grpc/rpc.h: converts a gRPC call to the equivalent HTTP request, and the answer back.
 *
 * Google's services document the HTTP request for each call (google.api.http): the call is a column of that request's
 * row. So both protocols use the same handlers and texts. Pure. Thread: any.
 * Source: https://github.com/googleapis/googleapis/blob/master/google/api/http.proto,
 *         https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md (read 2026-11-22) */
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "api/http/http.h"

/* A gRPC call with many answer messages. Thread: the connection's. */
struct rpc_feed {
	/* Opens a feed. @context: the family's; @request: the request's body as JSON. @wake_fd: an eventfd to which
	 * any thread writes when there may be new messages, until close(). */
	enum status (*open)(void *context, const json_t *request, int wake_fd, void **ret_arg, struct error *err);
	/* Appends the JSON of the next message. If there is none now, *ret_wake_us (monotonic) is the latest time of
	 * the next call. A failure ends the answer. Does not wait. */
	enum status (*next)(void *arg, struct text *text, int64_t *ret_wake_us, struct error *err);
	void (*close)(void *arg);
};

/* A gRPC request's message contains what HTTP divides into path, query and body. One field, which the row's doc names
 * as resource, becomes the part of the path from the second segment to the end of the last {name}. If the row has a
 * body, the field with the type of the body becomes the body, or, if body_root is "", all other fields do. Fields that
 * are left become the query. */
struct rpc {
	const char *path; /* "/google.cloud.aiplatform.v1.JobService/CreateCustomJob" */
	const struct message *request;
	/* The field that names the resource, for rows without doc; see doc. */
	const char *resource;
	const struct message *response;
	/* For rows that serve several collections: the form of the resource in all of them. A star stands for one
	 * segment, two stars for one or more. NULL: the form in the row's path. */
	const char *pattern;
	/* NULL: the answer is one message. The row's handler is always called first, and can refuse the call. */
	const struct rpc_feed *feed;
};

/* Finds the row of the gRPC method @path; NULL: there is none. @families ends with a NULL name. */
const struct route *rpc_route_find(const struct family *families, const char *path);
/* Returns the context of the family that has @route. */
void *rpc_context_find(const struct family *families, const struct route *route);

struct rpc_request {
	struct text target, body; /* body is empty if the request has none */
};
void rpc_request_deinit(struct rpc_request *request);
#define AUTO_RPC_REQUEST __attribute__((cleanup(rpc_request_deinit)))

/* Converts a call of @route, which must have one, to its HTTP request. INVALID_ARGUMENT: the bytes are not the
 * request's message, or a name in it does not have the form of the call's resource, and might reach another method.
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
	unsigned code;       /* GRPC_OK: the call has an answer */
	struct text message; /* of a failure: the error message */
	struct text details; /* of a failure: google.rpc.Status in binary form; empty: none */
};
void rpc_outcome_deinit(struct rpc_outcome *outcome);
#define AUTO_RPC_OUTCOME __attribute__((cleanup(rpc_outcome_deinit)))
/* Sets the outcome to an error of the emulator itself. */
void rpc_outcome_fail(struct rpc_outcome *outcome, unsigned code, const char *text);

/* Sets the outcome from an HTTP error status and the JSON of its body. */
void rpc_refusal_read(unsigned http_status, const char *json, size_t length, struct rpc_outcome *outcome);
/* Sets the outcome from the error with which a feed ended. */
void rpc_error_read(const struct error *err, struct rpc_outcome *outcome);
/* Converts the JSON of an answer: appends the binary message to @bytes, and sets the outcome. @any: see
 * message_to_binary(). */
void rpc_answer_read(const struct route *route, const struct message *const *any, unsigned http_status,
		     const char *json, size_t length, struct text *bytes, struct rpc_outcome *outcome);
