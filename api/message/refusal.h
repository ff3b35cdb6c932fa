/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/message/refusal.h: refusals in the words of the services: of the front end that turns JSON into protobuf, of Vertex
 * AI's lists, of quotas. What error_set() and error_add() say of a field is worded as AI Platform Training does. */
#include "daemon/base/error.h"

/* Adds a violation of the JSON front end: the sentence stands as it is, in the message (joined by
 * newlines) and in the violation; @field may be NULL. The status becomes INVALID_ARGUMENT. */
enum status refusal_add_transcoding(struct error *err, const char *field, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds one more violation to a list as Vertex AI words it, all in the one message:
 * "List of found errors:\t1.Field: <field>; Message: <description>\t2.Field: …\t". The status becomes
 * INVALID_ARGUMENT. */
enum status refusal_add_listed(struct error *err, const char *field, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Words an INVALID_ARGUMENT that error_set() or error_add() has worded as refusal_add_listed() does; any other stays. */
void refusal_list(struct error *err);

/* Replaces *err by RESOURCE_EXHAUSTED: the text stands as it is, and once more as the one violation of a quota,
 * with the subject @subject ("my-project"). */
enum status refusal_set_quota(struct error *err, const char *subject, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Replaces *err by INVALID_ARGUMENT in the front end's general words ("Request contains an invalid argument."); the
 * description stands in the one violation of @field alone. */
enum status refusal_set_argument(struct error *err, const char *field, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
