/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/router.h: finds the row for a method and a path. Pure. Thread: any. */
#include "api/http/http.h"
#include "api/http/request.h"

enum match_kind {
	MATCH_NOTHING, /* also before the search */
	MATCH_ROUTE,   /* family, route and params are set */
	MATCH_ABSENT,  /* the real service has the method, trainyard does not: route is set */
	MATCH_METHODS, /* the path exists with other methods: allow is set */
};

struct match {
	enum match_kind kind;
	const struct family *family;
	const struct route *route;
	struct call_param params[8]; /* values point into the target */
	size_t param_count;
	char allow[64]; /* "GET, HEAD, POST" */
};

/* The first row that matches, in the order of the tables; families of last resort come last, and only if no other has
 * the path. HEAD also matches GET rows. A text after the path's last raw colon is a verb if a row with that verb
 * matches the path, with any method; otherwise it is part of the segment. A {name} never matches the segments "." and
 * "..".
 * Source: google.api.http path templates; https://github.com/googleapis/googleapis/blob/master/google/api/http.proto */
struct match router_match(const struct family *families, const char *method, const struct target *target);

/* The error for a result other than MATCH_ROUTE. */
enum status match_refuse(const struct match *match, const char *method, const struct target *target,
			 enum refusal *ret_refusal, struct error *err);

/* Appends the method's name as in the discovery document, "projects.models.list". It is made from the fixed segments of
 * the row's path and its verb, or the HTTP method if there is no verb. */
void route_name_write(struct text *text, const struct route *route);
