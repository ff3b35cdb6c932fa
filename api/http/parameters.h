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
	bool blank_is_absent; /* in: what the family says */
	bool compact;         /* prettyPrint=false */
	enum error_form form;
	const char *fields; /* a partial response's mask, borrowed; NULL: all */
};

enum unknown_parameters { UNKNOWN_KEPT, UNKNOWN_DROPPED };

/* Takes the system's parameters out of @query, but those that @own (may be NULL), the row's query message, has itself;
 * the others are appended to @rest as [name, value], without those that @own does not know if these are to be dropped.
 * All are read even when one is refused, so that the refusal itself has the right form. */
enum status parameters_take(const struct query *query, const struct message *own,
			    enum unknown_parameters unknown, struct parameters *parameters, json_t *rest,
			    struct error *err);
