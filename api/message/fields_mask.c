/* SPDX-License-Identifier: Apache-2.0 */
/* Partial responses: a mask is parsed into a tree, and members that the tree does not have are left out of the answer.
 *
 *     mask     = item *( "," item )
 *     item     = name *( ( "/" / "." ) name ) [ "(" mask ")" ]
 *     name     = "*" / letters, digits, "_", "-", "$", "@"
 *
 * The tree is JSON: an object of names. Each name has an object of names below it, or true, which selects the whole
 * member. The answer is filtered as text, in one pass, so that pages of a thousand objects can be filtered, too.
 * Source: https://developers.google.com/discovery/v1/performance (read 2026-11-20) */
#include "api/message/message.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "api/message/names.h"
#include "api/message/refusal.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/json.h"
#include "daemon/base/json_cursor.h"
#include "daemon/base/memory.h"

enum {
	MASK_DEPTH_MAX = 50,
	MASK_NAMES_MAX = 4096,
	MASK_SHOWN_BYTES = 4096,
	REACHED_MAX = 64,
	VALUE_DEPTH_MAX = 128, /* only arrays within arrays can be deeper than the mask */
};

/* The messages that a path has led to. A path with a star can lead to several. */
struct reached {
	const struct message *messages[REACHED_MAX];
	size_t count;
	bool anything; /* no table restricts the names here */
};

#define NOT_LOST SIZE_MAX

struct mask_scan {
	const char *at;
	unsigned depth, names;
	struct text path;    /* the names up to here, joined by dots */
	/* position of the first name that is not a field; NOT_LOST: all are fields */
	size_t lost_at;
	struct text nowhere; /* the first path that names no field; none: empty */
	size_t nowhere_at;   /* position of the first name that is not a field */
};

static bool list_scan(struct mask_scan *scan, json_t *tree, const struct reached *reached);

static void reached_add(struct reached *reached, const struct field *field)
{
	if (field->flags & FIELD_MAP || field->type == FIELD_STRUCT || field->type == FIELD_VALUE)
		reached->anything = true;
	if (field->type != FIELD_MESSAGE || field->flags & FIELD_MAP)
		return;
	for (size_t i = 0; i < reached->count; i++)
		if (reached->messages[i] == field->message)
			return;
	if (reached->count == REACHED_MAX)
		reached->anything = true;
	else
		reached->messages[reached->count++] = field->message;
}

static bool is_unset(const struct message *message, const char *name)
{
	for (const char *const *unset = message->unset; unset && *unset; unset++)
		if (name_matches(*unset, name))
			return true;
	return false;
}

/* False: none of the messages at @from has a field @name. */
static bool reached_below(const struct reached *from, const char *name, struct reached *to)
{
	const bool star = strcmp(name, "*") == 0;
	bool any = from->anything;

	*to = (struct reached){ .anything = from->anything };
	for (size_t i = 0; i < from->count; i++) {
		to->anything |= is_unset(from->messages[i], name);
		any |= star || to->anything;
		for (const struct field *field = from->messages[i]->fields; field->name; field++) {
			if (!star && !name_matches(field->name, name))
				continue;
			any = true;
			reached_add(to, field);
		}
	}
	return any;
}

/* Adds @name to the path, and sets *to to the messages below it. If no message at @from has a field @name, notes its
 * position in lost_at, unless an earlier name is noted there. */
static void path_enter(struct mask_scan *scan, const char *name, const struct reached *from,
		       struct reached *to)
{
	size_t begin;

	if (scan->path.length)
		text_putc(&scan->path, '.');
	begin = scan->path.length;
	text_puts(&scan->path, name);
	if (!reached_below(from, name, to) && scan->lost_at == NOT_LOST)
		scan->lost_at = begin;
}

static void path_end(struct mask_scan *scan)
{
	if (scan->lost_at == NOT_LOST || scan->nowhere.length)
		return;
	text_append(&scan->nowhere, scan->path.data, scan->path.length);
	scan->nowhere_at = scan->lost_at;
}

static void path_leave(struct mask_scan *scan, size_t length, size_t lost_at)
{
	scan->lost_at = lost_at;
	scan->path.length = length;
	scan->path.data[length] = '\0';
}

static size_t name_length(const char *at)
{
	size_t length = 0;

	if (*at == '*')
		return 1;
	while (isalnum((unsigned char)at[length]) || (at[length] && strchr("_-$@", at[length])))
		length++;
	return length;
}

/* Returns the tree for the members of @name, and makes it if there is none. `true` stands for a whole value and is not
 * changed: names below it go into an object that is dropped. New reference. */
static json_t *tree_descend(json_t *tree, const char *name)
{
	json_t *below = json_object_get(tree, name);

	if (json_is_true(below))
		return json_object();
	if (below)
		return json_incref(below);
	below = json_object();
	json_object_set(tree, name, below);
	return below;
}

/* Reads the rest of an item of the mask after a name: more names, a list in parentheses, or nothing. */
static bool item_scan(struct mask_scan *scan, json_t *tree, const struct reached *reached)
{
	const size_t path_length = scan->path.length, lost_at = scan->lost_at;
	size_t length = name_length(scan->at);
	AUTO(string) char *name = memory_strndup(scan->at, length);
	struct reached next;
	bool good = true;

	if (!length || ++scan->depth > MASK_DEPTH_MAX || ++scan->names > MASK_NAMES_MAX)
		return false;
	scan->at += length;
	path_enter(scan, name, reached, &next);
	if (*scan->at == '/' || *scan->at == '.' || *scan->at == '(') {
		AUTO(json) json_t *below = tree_descend(tree, name);
		bool bracket = *scan->at++ == '(';

		good = bracket ? list_scan(scan, below, &next) && *scan->at++ == ')'
			       : item_scan(scan, below, &next);
	} else {
		path_end(scan);
		json_object_set_new(tree, name, json_true());
	}
	path_leave(scan, path_length, lost_at);
	scan->depth--;
	return good;
}

static bool list_scan(struct mask_scan *scan, json_t *tree, const struct reached *reached)
{
	for (;;) {
		while (*scan->at == ' ')
			scan->at++;
		if (!item_scan(scan, tree, reached))
			return false;
		while (*scan->at == ' ')
			scan->at++;
		if (*scan->at != ',')
			return true;
		scan->at++;
	}
}

/* Source: https://github.com/r-lib/gargle/blob/main/tests/testthat/_snaps/response_process.md (the message, the violation
 * of a path that names no field); the text for a malformed mask is a choice. */
static enum status mask_refuse(const char *mask, const char *path, const char *name, struct error *err)
{
	const char *field = strlen(mask) > MASK_SHOWN_BYTES ? "fields" : mask;

	(void)name;
	if (path)
		return refusal_set_argument(
			err, field,
			"Error expanding 'fields' parameter. Cannot find matching fields for path '%.200s'.",
			path);
	return refusal_set_argument(
		err, field, "Error expanding 'fields' parameter. Invalid field selection %.200s", mask);
}

static enum status nowhere_refuse(const struct mask_scan *scan, const char *mask, mask_refusal refuse,
				  struct error *err)
{
	const char *from = scan->nowhere.data + scan->nowhere_at;
	AUTO(string) char *name = memory_strndup(from, strcspn(from, "."));

	return refuse(mask, scan->nowhere.data, name, err);
}

static enum status mask_parse(const struct message *message, const char *mask, mask_refusal refuse,
			      json_t **ret_tree, struct error *err)
{
	AUTO(json) json_t *tree = json_object();
	const struct reached root = { .messages = { message },
				      .count = message != NULL,
				      .anything = !message };
	struct mask_scan scan = { .at = mask, .lost_at = NOT_LOST };
	enum status rc = STATUS_OK;

	if (!list_scan(&scan, tree, &root) || *scan.at)
		rc = refuse(mask, NULL, NULL, err);
	else if (scan.nowhere.length)
		rc = nowhere_refuse(&scan, mask, refuse, err);
	text_deinit(&scan.path);
	text_deinit(&scan.nowhere);
	if (!rc)
		*ret_tree = TAKE(tree);
	return rc;
}

enum status fields_mask_check(const struct message *message, const char *mask, mask_refusal refuse,
			      struct error *err)
{
	AUTO(json) json_t *tree = NULL;

	return mask_parse(message, mask, refuse ? refuse : mask_refuse, &tree, err);
}

/* ---- filtering the text ---- */

/* The trees that apply to the current value: every tree that a path of the mask has led to. Those of outer levels are
 * below them on the stack. */
struct sieve {
	struct text *kept;
	const char *at;
	const json_t **trees; /* borrowed from the mask's */
	size_t tree_count, tree_size;
	bool has_snakes; /* some name may be the other spelling of a key */
	unsigned depth;
};

static void tree_push(struct sieve *sieve, const json_t *tree)
{
	if (sieve->tree_count == sieve->tree_size) {
		const size_t size = sieve->tree_size ? 2 * sieve->tree_size : MASK_DEPTH_MAX;
		const json_t **trees = memory_realloc(sieve->trees, size * sizeof(json_t *));

		sieve->trees = trees;
		sieve->tree_size = size;
	}
	sieve->trees[sieve->tree_count++] = tree;
}

static void below_add(struct sieve *sieve, const json_t *below, bool *whole)
{
	*whole |= json_is_true(below);
	if (json_is_object(below))
		tree_push(sieve, below);
}

static bool is_star(const char *name)
{
	return strcmp(name, "*") == 0;
}

/* Pushes the trees that @tree has for the member @key. *whole becomes true if the mask selects all of the member. */
static void tree_ask(struct sieve *sieve, const json_t *tree, const char *key, bool *whole)
{
	const char *name;
	json_t *below;

	below_add(sieve, json_object_get(tree, "*"), whole);
	if (!sieve->has_snakes && !isupper((unsigned char)*key)) {
		below_add(sieve, is_star(key) ? NULL : json_object_get(tree, key), whole);
		return;
	}
	json_object_foreach((json_t *)tree, name, below) {
		if (!is_star(name) && name_matches(key, name))
			below_add(sieve, below, whole);
	}
}

/* Pushes the trees for the member @key. They are looked up in the trees of the current level, from @first to the top
 * of the stack. True: the mask selects all of the member, so the pushed trees are not needed. */
static bool member_ask(struct sieve *sieve, size_t first, const char *key)
{
	const size_t end = sieve->tree_count;
	bool whole = false;

	for (size_t i = first; i < end && !whole; i++)
		tree_ask(sieve, sieve->trees[i], key, &whole);
	return whole;
}

/* Returns the current string, decoded. */
static char *key_take(struct sieve *sieve)
{
	struct text key = { 0 };

	if (!json_string_append(&sieve->at, &key)) {
		text_deinit(&key);
		return NULL;
	}
	return text_take(&key);
}

static void shorten(struct text *text, size_t length)
{
	if (!text->failed && text->length > length) {
		text->length = length;
		text->data[length] = '\0';
	}
}

static bool value_sift(struct sieve *sieve, size_t first);

/* Filters the value of a member; its key is in the text already. *ret_kept: the member stays. If the mask selects only
 * parts of the value, an array stays in any case, and an object only if it is not empty after the filtering. */
static bool member_value_sift(struct sieve *sieve, size_t first, bool whole, bool *ret_kept)
{
	const char *begin = sieve->at;
	const size_t length = sieve->kept->length;
	const bool is_object = *begin == '{';
	const bool is_array = *begin == '[';

	if (!whole && first < sieve->tree_count && (is_object || is_array)) {
		if (!value_sift(sieve, first))
			return false;
		*ret_kept = is_array || sieve->kept->length > length + strlen("{}");
		return true;
	}
	if (!json_value_skip(&sieve->at))
		return false;
	if (whole)
		text_append(sieve->kept, begin, (size_t)(sieve->at - begin));
	*ret_kept = whole;
	return true;
}

static bool member_sift(struct sieve *sieve, size_t first, bool *any)
{
	const size_t level = sieve->tree_count, length = sieve->kept->length;
	const char *begin = sieve->at;
	AUTO(string) char *key = key_take(sieve);
	const size_t key_length = (size_t)(sieve->at - begin);
	bool whole;
	bool kept = false;
	bool good;

	if (!key || !json_token_skip(&sieve->at, ':'))
		return false;
	whole = member_ask(sieve, first, key);
	if (*any)
		text_putc(sieve->kept, ',');
	text_append(sieve->kept, begin, key_length);
	text_putc(sieve->kept, ':');
	good = member_value_sift(sieve, level, whole, &kept);
	sieve->tree_count = level;
	if (!kept)
		shorten(sieve->kept, length);
	*any |= kept;
	return good;
}

static bool object_sift(struct sieve *sieve, size_t first)
{
	bool any = false;

	if (json_token_skip(&sieve->at, '}'))
		return true;
	do {
		if (!member_sift(sieve, first, &any))
			return false;
	} while (json_token_skip(&sieve->at, ','));
	return json_token_skip(&sieve->at, '}');
}

static bool array_sift(struct sieve *sieve, size_t first)
{
	if (json_token_skip(&sieve->at, ']'))
		return true;
	for (;;) {
		if (!value_sift(sieve, first))
			return false;
		if (!json_token_skip(&sieve->at, ','))
			return json_token_skip(&sieve->at, ']');
		text_putc(sieve->kept, ',');
	}
}

/* The current value, filtered by the trees from @first on. False: it is not JSON. */
static bool value_sift(struct sieve *sieve, size_t first)
{
	const char *begin = sieve->at;
	bool good;

	if (*begin != '{' && *begin != '[') {
		good = json_value_skip(&sieve->at);
		text_append(sieve->kept, begin, (size_t)(sieve->at - begin));
		return good;
	}
	if (sieve->depth == VALUE_DEPTH_MAX)
		return false;
	sieve->depth++;
	text_putc(sieve->kept, *begin);
	good = json_token_skip(&sieve->at, *begin) &&
	       (*begin == '{' ? object_sift(sieve, first) : array_sift(sieve, first));
	text_putc(sieve->kept, *begin == '{' ? '}' : ']');
	sieve->depth--;
	return good;
}

enum status fields_mask_write(struct text *text, const char *mask, const char *json, struct error *err)
{
	AUTO(json) json_t *tree = NULL;
	struct sieve sieve = { .kept = text, .at = json };
	enum status rc = mask_parse(NULL, mask, mask_refuse, &tree, err);
	bool good;

	if (rc)
		return rc;
	sieve.has_snakes = strchr(mask, '_');
	tree_push(&sieve, tree);
	json_space_skip(&sieve.at);
	good = value_sift(&sieve, 0);
	json_space_skip(&sieve.at);
	free(sieve.trees);
	if (text->failed)
		return error_no_memory(err);
	if (!good || *sieve.at)
		return error_set(err, STATUS_INTERNAL, NULL,
				 "a field mask cannot be applied: the resource is not JSON");
	return STATUS_OK;
}
