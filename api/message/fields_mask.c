/* SPDX-License-Identifier: Apache-2.0 */
/* Partial responses: a mask is parsed into a tree and the tree is laid over the value.
 *
 *     mask     = item *( "," item )
 *     item     = name *( ( "/" / "." ) name ) [ "(" mask ")" ]
 *     name     = "*" / letters, digits, "_", "-", "$", "@"
 *
 * The tree is JSON: an object of names, each leading to an object of names below it or to true, which
 * is the whole. Source: https://developers.google.com/discovery/v1/performance (read 2026-11-20) */
#include "api/message/message.h"

#include <ctype.h>
#include <string.h>

#include "api/message/names.h"
#include "daemon/base/cleanup.h"

enum { MASK_DEPTH_MAX = 50 };

struct mask_scan {
	const char *at;
	unsigned depth;
};

static bool list_scan(struct mask_scan *scan, json_t *tree);

static size_t name_length(const char *at)
{
	size_t length = 0;

	if (*at == '*')
		return 1;
	while (isalnum((unsigned char)at[length]) || (at[length] && strchr("_-$@", at[length])))
		length++;
	return length;
}

/* The object below @name; making it when there is none. The whole (true) stays the whole, and what is
 * named below it goes into an object that nothing holds. New reference. */
static json_t *tree_descend(json_t *tree, const char *name)
{
	json_t *below = json_object_get(tree, name);

	if (json_is_true(below))
		return json_object();
	if (below)
		return json_incref(below);
	below = json_object();
	return json_object_set(tree, name, below) ? NULL : below;
}

/* The part of an item after one of its names: more names, a list in brackets, or nothing. */
static bool item_scan(struct mask_scan *scan, json_t *tree)
{
	size_t length = name_length(scan->at);
	AUTO(string) char *name = strndup(scan->at, length);
	bool good;

	if (!length || !name || ++scan->depth > MASK_DEPTH_MAX)
		return false;
	scan->at += length;
	if (*scan->at == '/' || *scan->at == '.' || *scan->at == '(') {
		AUTO(json) json_t *below = tree_descend(tree, name);
		bool bracket = *scan->at++ == '(';

		good = below &&
		       (bracket ? list_scan(scan, below) && *scan->at++ == ')' : item_scan(scan, below));
	} else {
		good = json_object_set_new(tree, name, json_true()) == 0;
	}
	scan->depth--;
	return good;
}

static bool list_scan(struct mask_scan *scan, json_t *tree)
{
	for (;;) {
		while (*scan->at == ' ')
			scan->at++;
		if (!item_scan(scan, tree))
			return false;
		while (*scan->at == ' ')
			scan->at++;
		if (*scan->at != ',')
			return true;
		scan->at++;
	}
}

static void value_keep(json_t *value, const json_t *tree);

/* What @tree says of member @key: NULL (nothing), true (the whole), or an object. Borrowed. */
static const json_t *tree_find(const json_t *tree, const char *key)
{
	const json_t *found = json_object_get(tree, key);
	const char *name;
	json_t *below;

	if (found)
		return found;
	json_object_foreach((json_t *)tree, name, below) {
		if (name_matches(key, name))
			return below;
	}
	return NULL;
}

/* A member goes when neither its name nor the star says anything of it, or when all in it went. */
static bool member_keeps(json_t *member, const json_t *named, const json_t *star)
{
	if (json_is_true(named) || json_is_true(star))
		return true;
	if ((!named && !star) || !(json_is_object(member) || json_is_array(member)))
		return false;
	if (!named || !star) {
		value_keep(member, named ? named : star);
	} else {
		AUTO(json) json_t *both = json_deep_copy(star);

		json_object_update_recursive(both, (json_t *)named);
		value_keep(member, both);
	}
	return json_is_array(member) || json_object_size(member) > 0;
}

static void value_keep(json_t *value, const json_t *tree)
{
	const json_t *star = json_object_get(tree, "*");
	size_t index;
	const char *key;
	json_t *member;
	void *next;

	json_array_foreach(value, index, member) {
		value_keep(member, tree);
	}
	json_object_foreach_safe(value, next, key, member) {
		if (!member_keeps(member, tree_find(tree, key), star))
			json_object_del(value, key);
	}
}

enum status fields_mask_apply(json_t *value, const char *mask, struct error *err)
{
	AUTO(json) json_t *tree = json_object();
	struct mask_scan scan = { .at = mask };

	if (!tree)
		return error_no_memory(err);
	if (!list_scan(&scan, tree) || *scan.at) {
		if (err)
			error_deinit(err);
		return error_add_transcoding(err, "fields", "Invalid field selection %.200s", mask);
	}
	value_keep(value, tree);
	return STATUS_OK;
}
