/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/router.h"

#include <stdio.h>
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

/* Segment @i of the target. If @verb is not NULL, the last segment is returned without its colon and verb; if it is
 * NULL, the colon is part of the segment. */
static const char *segment_of(const struct target *target, size_t i, const char *verb)
{
	return verb && i + 1 == target->segment_count ? target->stem : target->segments[i];
}

/* The path from segment @i to its end. */
static const char *rest_of(const struct target *target, size_t i)
{
	const char *rest = target->path;

	while (i--)
		rest += strlen(target->segments[i]) + 1;
	return rest;
}

static bool name_fits(const char *segment)
{
	return *segment && strcmp(segment, ".") != 0 && strcmp(segment, "..") != 0;
}

enum stem { STEM_FULL, STEM_MAY_BE_EMPTY };

/* Whether the row has this path. STEM_MAY_BE_EMPTY: a target like "x/:verb" fits a row with a name before the verb, so that
 * the colon is not taken for a part of a name. */
static bool path_fits(const char *path, const struct target *target, const char *verb, enum stem stem)
{
	struct path_part part;
	size_t i = 0;

	for (; path_part_next(&path, &part); i++) {
		const char *segment;

		if (i == target->segment_count)
			return false;
		if (part.is_rest)
			return *rest_of(target, i) && !verb;
		segment = segment_of(target, i, verb);
		if (stem == STEM_MAY_BE_EMPTY && segment == target->stem && !*segment)
			continue;
		if (part.is_name ? !name_fits(segment) : !part_is(&part, segment))
			return false;
	}
	return i == target->segment_count && !target->too_deep && verbs_equal(path, verb);
}

/* The path of a row as the clients of the family write it, without what they omit. NULL: they cannot reach the row. */
static const char *path_of(const struct family *family, const struct route *route)
{
	const size_t length = family->omitted ? strlen(family->omitted) : 0;

	return length && strncmp(route->path, family->omitted, length) != 0 ? NULL : route->path + length;
}

/* A fast check before path_fits(). False: path_fits() would return false too. It compares the first letter of each
 * segment, and checks whether the path has more segments than the target; this rules out nearly all of the hundreds of
 * rows. The last segment is not compared, as it may be empty before its verb. */
static bool path_may_fit(const char *path, const struct target *target)
{
	for (size_t i = 0; i + 1 < target->segment_count && *path == '/'; i++) {
		path++;
		if (*path != '{' && *path != *target->segments[i])
			return false;
		while (*path && *path != '/')
			path++;
	}
	return *path != '/' || !strchr(path + 1, '/');
}

static bool family_may_fit(const struct family *family, const struct target *target)
{
	return !family->under || path_may_fit(family->under, target);
}

static bool route_fits(const struct family *family, const struct route *route, const struct target *target,
		       const char *verb, enum stem stem)
{
	const char *path = path_of(family, route);

	return path && path_may_fit(path, target) && path_fits(path, target, verb, stem);
}

static void params_take(struct match *match, const struct target *target, const char *verb)
{
	const char *at = path_of(match->family, match->route);
	struct path_part part;

	for (size_t i = 0; path_part_next(&at, &part); i++) {
		if (!part.is_name || match->param_count == sizeof(match->params) / sizeof(match->params[0]))
			continue;
		match->params[match->param_count++] = (struct call_param){
			.name = part.text,
			.value = part.is_rest ? rest_of(target, i) : segment_of(target, i, verb),
		};
	}
}

static bool methods_equal(const char *row, const char *asked)
{
	return strcmp(row, asked) == 0 || (strcmp(asked, "HEAD") == 0 && strcmp(row, "GET") == 0);
}

static bool table_has_verb(const struct family *family, const struct route *routes,
			   const struct target *target)
{
	for (const struct route *route = routes; route && route->method; route++)
		if (route_fits(family, route, target, target->verb, STEM_MAY_BE_EMPTY))
			return true;
	return false;
}

/* The verb of the target; NULL: it has none, or no row has this verb. */
static const char *verb_choose(const struct family *families, const struct target *target)
{
	if (!target->verb)
		return NULL;
	for (const struct family *family = families; family->name; family++)
		if (family_may_fit(family, target) && (table_has_verb(family, family->routes, target) ||
						       table_has_verb(family, family->absent, target)))
			return target->verb;
	return NULL;
}

static void allow_add(struct match *match, const char *method)
{
	size_t used = strlen(match->allow);

	match->kind = MATCH_METHODS;
	if (strstr(match->allow, method) || used + strlen(method) + 3 > sizeof(match->allow))
		return;
	snprintf(match->allow + used, sizeof(match->allow) - used, "%s%s", used ? ", " : "", method);
}

enum turn { TURN_FIRST, TURN_LAST_RESORT };

/* Whether to search the rows of the family for this path now: families of last resort are searched after the others. */
static bool family_has_turn(const struct family *family, enum turn turn, const struct target *target)
{
	if (family->last_resort != (turn == TURN_LAST_RESORT) || !family_may_fit(family, target))
		return false;
	return !family->may_have ||
	       (target->segment_count > 0 && family->may_have(target->segments, target->segment_count));
}

static bool family_match(const struct family *family, const char *method, const struct target *target,
			 const char *verb, struct match *match)
{
	for (const struct route *route = family->routes; route && route->method; route++) {
		if (!route_fits(family, route, target, verb, STEM_FULL))
			continue;
		if (!methods_equal(route->method, method)) {
			allow_add(match, route->method);
			if (strcmp(route->method, "GET") == 0)
				allow_add(match, "HEAD");
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

/* Looks among the rows that are not emulated. True: one of them has the path, maybe with another method. */
static bool absent_match(const struct family *family, const char *method, const struct target *target,
			 const char *verb, struct match *match)
{
	bool known = false;

	for (const struct route *route = family->absent; route && route->method; route++) {
		if (!route_fits(family, route, target, verb, STEM_FULL))
			continue;
		known = true;
		if (!methods_equal(route->method, method))
			continue;
		match->kind = MATCH_ABSENT;
		match->family = family;
		match->route = route;
		break;
	}
	return known;
}

/* True if the search is over: a row was found, or a family has the path. */
static bool families_match(const struct family *families, enum turn turn, const char *method,
			   const struct target *target, const char *verb, struct match *match)
{
	bool known = false;

	for (const struct family *family = families; family->name; family++)
		if (family_has_turn(family, turn, target) &&
		    family_match(family, method, target, verb, match))
			return true;
	for (const struct family *family = families; family->name; family++) {
		if (!family_has_turn(family, turn, target))
			continue;
		known |= absent_match(family, method, target, verb, match);
		if (match->kind == MATCH_ABSENT)
			return true;
	}
	return known || match->kind != MATCH_NOTHING;
}

struct match router_match(const struct family *families, const char *method, const struct target *target)
{
	struct match match = { .kind = MATCH_NOTHING };
	const char *verb = verb_choose(families, target);

	if (!families_match(families, TURN_FIRST, method, target, verb, &match))
		families_match(families, TURN_LAST_RESORT, method, target, verb, &match);
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
			 name.data);
}

/* Shows the path as it was parsed, and only the beginning of a very long one. */
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
	enum status rc;

	if (match->kind == MATCH_ROUTE)
		return STATUS_OK;
	path_write(&path, target);
	switch (match->kind) {
	case MATCH_ROUTE:
		return STATUS_OK;
	case MATCH_ABSENT:
		return refuse_absent(match->route, err);
	case MATCH_METHODS:
		*ret_refusal = REFUSAL_METHOD_NOT_ALLOWED;
		return error_set(err, STATUS_UNIMPLEMENTED, NULL,
				 "The method %s is not allowed for %s. Allowed: %s.", method, path.data,
				 match->allow);
	case MATCH_NOTHING:
		break;
	}
	rc = target_check_plain(target, err);
	if (rc)
		return rc;
	return error_set(err, STATUS_NOT_FOUND, NULL, "Method not found: %s %s.", method, path.data);
}
