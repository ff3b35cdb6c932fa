/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/parameters.h: the query parameters that every method takes. Pure. Thread: any.
 * Source: https://cloud.google.com/apis/docs/system-parameters (read 2026-11-20) */
#include <jansson.h>
#include <stdbool.h>

#include "api/http/error_body.h"
#include "api/http/request.h"
#include "api/message/message.h"

struct parameters {
	bool blank_is_absent; /* set before the call of parameters_take(), as in struct family */
	bool compact;         /* prettyPrint=false */
	enum error_form form;
	const char *fields; /* the mask of a partial response, borrowed; NULL: all fields */
};

enum unknown_parameters { UNKNOWN_KEPT, UNKNOWN_DROPPED };

/* Moves the system parameters out of @query, except those that @own, the row's query message (may be NULL), has
 * itself. Appends the other parameters to @rest as [name, value]; if unknown ones are to be ignored, only those that
 * @own has. Reads all parameters even if one is refused, so that the refusal has the requested form. */
enum status parameters_take(const struct query *query, const struct message *own,
			    enum unknown_parameters unknown, struct parameters *parameters, json_t *rest,
			    struct error *err);
