/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/router.h"

#include <string.h>

#include "api/message/path.h"

static const char *verb_of(const char *path)
{
	const char *colon = strrchr(path, ':');

	return colon ? colon + 1 : NULL;
}

static bool part_is(const struct path_part *part, const char *segment)
{
	return strncmp(part->text, segment, part->length) == 0 && segment[part->length] == '\0';
}

static bool verbs_equal(const char *path, const char *verb)
{
	const char *own = verb_of(path);

	return own && verb ? strcmp(own, verb) == 0 : own == verb;
}

/* @verb is NULL where the target's last segment is to be taken whole. */
static bool path_fits(const char *path, const struct target *target, const char *verb)
{
	struct path_part part;
	size_t i = 0;

	for (; path_part_next(&path, &part); i++) {
		const char *segment;

		if (i == target->segment_count)
			return false;
		segment = verb && i + 1 == target->segment_count ? target->stem : target->segments[i];
		if (part.is_name ? !*segment : !part_is(&part, segment))
			return false;
	}
	return i == target->segment_count && verbs_equal(path, verb);
}

static void params_take(struct match *match, const struct target *target, const char *verb)
{
	const char *at = match->route->path;
	struct path_part part;

	for (size_t i = 0; path_part_next(&at, &part); i++) {
		const char *segment =
			verb && i + 1 == target->segment_count ? target->stem : target->segments[i];

		if (!part.is_name || match->param_count == sizeof(match->params) / sizeof(match->params[0]))
			continue;
		match->params[match->param_count++] = (struct call_param){
			.name = part.text,
			.value = segment,
		};
	}
}

static bool methods_equal(const char *row, const char *asked)
{
	return strcmp(row, asked) == 0 || (strcmp(asked, "HEAD") == 0 && strcmp(row, "GET") == 0);
}

static bool table_has_verb(const struct route *routes, const char *verb)
{
	for (const struct route *route = routes; route && route->method; route++)
		if (verbs_equal(route->path, verb))
			return true;
	return false;
}

static bool verb_known(const struct family *families, const char *verb)
{
	for (const struct family *family = families; family->name; family++)
		if (table_has_verb(family->routes, verb) || table_has_verb(family->absent, verb))
			return true;
	return false;
}

static void allow_add(struct match *match, const char *method)
{
	const char *shown = strcmp(method, "GET") == 0 ? "GET, HEAD" : method;
	size_t used = strlen(match->allow);

	if (strstr(match->allow, method) || used + strlen(shown) + 3 > sizeof(match->allow))
		return;
	if (used)
		strcat(match->allow, ", ");
	strcat(match->allow, shown);
	match->kind = MATCH_METHODS;
}

static bool family_match(const struct family *family, const char *method, const struct target *target,
			 const char *verb, struct match *match)
{
	for (const struct route *route = family->routes; route && route->method; route++) {
		if (!path_fits(route->path, target, verb))
			continue;
		if (!methods_equal(route->method, method)) {
			allow_add(match, route->method);
			continue;
		}
		match->kind = MATCH_ROUTE;
		match->family = family;
		match->route = route;
		params_take(match, target, verb);
		return true;
	}
	return false;
}

static bool absent_match(const struct family *family, const char *method, const struct target *target,
			 const char *verb, struct match *match)
{
	for (const struct route *route = family->absent; route && route->method; route++) {
		if (!methods_equal(route->method, method) || !path_fits(route->path, target, verb))
			continue;
		match->kind = MATCH_ABSENT;
		match->family = family;
		match->route = route;
		return true;
	}
	return false;
}

struct match router_match(const struct family *families, const char *method, const struct target *target)
{
	struct match match = { .kind = MATCH_NOTHING };
	const char *verb = target->verb && verb_known(families, target->verb) ? target->verb : NULL;

	for (const struct family *family = families; family->name; family++)
		if (family_match(family, method, target, verb, &match))
			return match;
	for (const struct family *family = families; family->name; family++)
		if (absent_match(family, method, target, verb, &match))
			return match;
	return match;
}

static const char *plain_verb(const char *method, bool on_item)
{
	static const struct {
		const char *method, *on_collection, *on_item;
	} verbs[] = {
		{ "GET", "list", "get" },         { "POST", "create", "create" },
		{ "PATCH", "patch", "patch" },    { "PUT", "update", "update" },
		{ "DELETE", "delete", "delete" },
	};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].method, method) == 0)
			return on_item ? verbs[i].on_item : verbs[i].on_collection;
	return method;
}

void route_name_write(struct text *text, const struct route *route)
{
	const char *at = route->path;
	const char *verb = verb_of(route->path);
	struct path_part part = { 0 };

	path_part_next(&at, &part); /* the version */
	while (path_part_next(&at, &part)) {
		if (part.is_name)
			continue;
		text_append(text, part.text, part.length);
		text_putc(text, '.');
	}
	text_puts(text, verb ? verb : plain_verb(route->method, part.is_name));
}

static enum status refuse_absent(const struct route *route, struct error *err)
{
	struct text name AUTO_TEXT = { 0 };

	route_name_write(&name, route);
	return error_set(err, STATUS_NOT_FOUND, NULL,
			 "The method %s exists in the real service, but trainyard does not emulate it.",
			 name.failed ? route->path : name.data);
}

/* Shows the path as it was understood, and not all of a very long one. */
static void path_write(struct text *text, const struct target *target)
{
	enum { SHOWN_MAX = 512 };

	for (size_t i = 0; i < target->segment_count && text->length < SHOWN_MAX; i++) {
		text_putc(text, '/');
		text_puts(text, target->segments[i]);
	}
}

enum status match_refuse(const struct match *match, const char *method, const struct target *target,
			 enum refusal *ret_refusal, struct error *err)
{
	struct text path AUTO_TEXT = { 0 };

	path_write(&path, target);
	switch (match->kind) {
	case MATCH_ROUTE:
		return STATUS_OK;
	case MATCH_ABSENT:
		return refuse_absent(match->route, err);
	case MATCH_METHODS:
		*ret_refusal = REFUSAL_METHOD_NOT_ALLOWED;
		return error_set(err, STATUS_UNIMPLEMENTED, NULL,
				 "The method %s is not allowed for %s. Allowed: %s.", method,
				 path.failed ? "this path" : path.data, match->allow);
	case MATCH_NOTHING:
		break;
	}
	return error_set(err, STATUS_NOT_FOUND, NULL, "Method not found: %s %s.", method,
			 path.failed ? "" : path.data);
}
