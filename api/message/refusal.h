/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/message/refusal.h: refusals in the words of the services: of the front end that converts JSON to protobuf, of
 * Vertex AI's lists, of quotas. Texts of error_set() and error_add() about a field are worded like AI Platform
 * Training's. */
#include "daemon/base/error.h"

/* Adds a violation of the JSON front end: the sentence is used unchanged, in the message (joined by newlines) and in
 * the violation; @field may be NULL. The status becomes INVALID_ARGUMENT. */
enum status refusal_add_transcoding(struct error *err, const char *field, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds a violation to a list in Vertex AI's form, which is one message: "List of found errors:\t1.Field: <field>;
 * Message: <description>\t2.Field: …\t". The status becomes INVALID_ARGUMENT. */
enum status refusal_add_listed(struct error *err, const char *field, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Rewords an INVALID_ARGUMENT of error_set() or error_add() in the form of refusal_add_listed(); other errors stay. */
void refusal_list(struct error *err);

/* Replaces *err by RESOURCE_EXHAUSTED: the text is the message, and also the one violation of a quota, with the subject
 * @subject ("my-project"). */
enum status refusal_set_quota(struct error *err, const char *subject, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Replaces *err by INVALID_ARGUMENT with the front end's general message ("Request contains an invalid argument."); the
 * description is only in the one violation, of @field. */
enum status refusal_set_argument(struct error *err, const char *field, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
