/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/resumable.h: resumable uploads, for both APIs.
 * Source: https://cloud.google.com/storage/docs/performing-resumable-uploads (read 2026-11-20) */
#include "api/storage/upload.h"

/* Begins a session for @target and answers with its address: @path and the session's id. @http_status of the answer:
 * 200 in the JSON API, 201 for plain paths. */
enum status session_started_answer(struct call *call, const struct object_target *target, const char *path,
				   unsigned http_status, struct error *err);

/* Handles one request of a session, identified by upload_id in the query: bytes, or the question how many have arrived.
 * The answer is 308 while bytes are missing, and then the object, which @finished writes. NOT_FOUND: the bucket has no
 * such session. */
typedef enum status (*object_answerer)(struct call *call, const struct object *object, struct error *err);
enum status session_request_begin(struct call *call, struct error *err);
enum status session_request(struct call *call, object_answerer finished, struct error *err);
/* Ends the session. The answer's HTTP status 499 says that it is gone. */
enum status session_cancel(struct call *call, struct error *err);
