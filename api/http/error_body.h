/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/error_body.h: an error as an HTTP status and a body, nowhere else. Pure. Thread: any.
 * Source: https://cloud.google.com/apis/design/errors (read 2026-11-20) */
#include "api/http/request.h"
#include "daemon/base/error.h"
#include "daemon/base/text.h"

enum error_form {
	ERROR_FORM_2, /* code, message, status, details: the usual one */
	ERROR_FORM_1, /* also errors[]: what $.xgafv=1 asks for */
};

/* What a 401 says of how to come in, as Google's do. */
#define ERROR_CHALLENGE "Bearer realm=\"https://accounts.google.com/\""

/* The HTTP status of a canonical one. */
unsigned error_http_status(enum status status);

/* True when the text is the daemon's own business: the client reads a neutral sentence, the log the text. */
bool error_is_internal(enum status status);

/* What a client may read of @err; never NULL, borrowed. */
const char *error_message(const struct error *err);

/* Appends compact JSON. @refusal puts HTTP's own code in the place of the status's. */
void error_body_write(struct text *text, const struct error *err, enum refusal refusal, enum error_form form);
