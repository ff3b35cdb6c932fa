/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/error_body.h: converts an error to an HTTP status and a body; no other file does. Pure. Thread: any.
 * Source: https://cloud.google.com/apis/design/errors (read 2026-11-20) */
#include "api/http/request.h"
#include "daemon/base/error.h"
#include "daemon/base/text.h"

enum error_form {
	ERROR_FORM_2, /* code, message, status, details: the default */
	ERROR_FORM_1, /* also has errors[]; requested by $.xgafv=1 */
};

/* The WWW-Authenticate header of a 401, as Google's services send it. */
#define ERROR_CHALLENGE "Bearer realm=\"https://accounts.google.com/\""

/* Returns the HTTP status for a canonical status. */
unsigned error_http_status(enum status status);

/* True if the error's text is not for clients: they get a neutral sentence, and the log gets the text. */
bool error_is_internal(enum status status);

/* The message of @err for clients; never NULL, borrowed. */
const char *error_message(const struct error *err);

/* Appends the error as compact JSON. @refusal, if not 0, gives the HTTP code instead of the status. */
void error_body_write(struct text *text, const struct error *err, enum refusal refusal, enum error_form form);
