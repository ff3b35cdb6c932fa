/* SPDX-License-Identifier: Apache-2.0 */
#include "api/metadata/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/metadata/account.h"

struct view {
	const struct metadata_context *context;
	const struct metadata_instance *instance;
	uint32_t peer;
};

typedef void (*value_write)(const struct view *view, struct text *text);

void metadata_zone_write(const char *region, struct text *text)
{
	text_printf(text, "%s-b", region);
}

static void hostname_put(const struct view *view, struct text *text)
{
	text_printf(text, "%s.c.%s.internal", view->instance->hostname, view->context->project_id);
}

/* Numbers in JSON have 63 bits here. */
static void id_put(const struct view *view, struct text *text)
{
	text_printf(text, "%" PRIu64, view->instance->id & INT64_MAX);
}

/* Choice: a replica that no machine type was asked for is one of scale tier BASIC.
 * Source: https://cloud.google.com/ai-platform/training/docs/machine-types (BASIC: n1-standard-4) */
static void machine_type_put(const struct view *view, struct text *text)
{
	const char *type = view->instance->machine_type;

	text_printf(text, "projects/%s/machineTypes/%s", view->context->project_number,
		    *type ? type : "n1-standard-4");
}

static void name_put(const struct view *view, struct text *text)
{
	text_puts(text, view->instance->hostname);
}

static void address_put(const struct view *view, struct text *text)
{
	text_printf(text, "%u.%u.%u.%u", view->peer >> 24, view->peer >> 16 & 255, view->peer >> 8 & 255,
		    view->peer & 255);
}

/* Compute Engine makes it of the address. */
static void mac_put(const struct view *view, struct text *text)
{
	text_printf(text, "42:01:%02x:%02x:%02x:%02x", view->peer >> 24, view->peer >> 16 & 255,
		    view->peer >> 8 & 255, view->peer & 255);
}

static void network_put(const struct view *view, struct text *text)
{
	text_printf(text, "projects/%s/networks/default", view->context->project_number);
}

static void email_put(const struct view *view, struct text *text)
{
	text_puts(text, view->context->email);
}

static void zone_put(const struct view *view, struct text *text)
{
	text_printf(text, "projects/%s/zones/", view->context->project_number);
	metadata_zone_write(view->context->region, text);
}

static void project_number_put(const struct view *view, struct text *text)
{
	text_puts(text, view->context->project_number);
}

static void project_id_put(const struct view *view, struct text *text)
{
	text_puts(text, view->context->project_id);
}

/* In the order of their names. "@" stands for the account: once its e-mail address, once "default".
 *
 * Choice: the platform is not known (a client must not tune itself to a processor that is not there); what tells of
 * the way to a network's router is left out: containers have another. */
static const struct row {
	const char *path;
	enum node_kind kind;
	const char *text;  /* the value itself… */
	value_write write; /* …or who writes it */
} rows[] = {
	{ "", NODE_DIRECTORY, NULL, NULL },
	{ "instance/", NODE_DIRECTORY, NULL, NULL },
	{ "instance/attributes/", NODE_MAP, NULL, NULL },
	{ "instance/cpu-platform", NODE_TEXT, "Unknown CPU Platform", NULL },
	{ "instance/description", NODE_TEXT, "", NULL },
	{ "instance/disks/", NODE_LIST, NULL, NULL },
	{ "instance/disks/0/", NODE_DIRECTORY, NULL, NULL },
	{ "instance/disks/0/device-name", NODE_TEXT, "boot", NULL },
	{ "instance/disks/0/index", NODE_NUMBER, "0", NULL },
	{ "instance/disks/0/interface", NODE_TEXT, "SCSI", NULL },
	{ "instance/disks/0/mode", NODE_TEXT, "READ_WRITE", NULL },
	{ "instance/disks/0/type", NODE_TEXT, "PERSISTENT", NULL },
	{ "instance/guest-attributes/", NODE_MAP, NULL, NULL },
	{ "instance/hostname", NODE_TEXT, NULL, hostname_put },
	{ "instance/id", NODE_NUMBER, NULL, id_put },
	{ "instance/image", NODE_TEXT, "", NULL },
	{ "instance/licenses/", NODE_LIST, NULL, NULL },
	{ "instance/machine-type", NODE_TEXT, NULL, machine_type_put },
	{ "instance/maintenance-event", NODE_TEXT, "NONE", NULL },
	{ "instance/name", NODE_TEXT, NULL, name_put },
	{ "instance/network-interfaces/", NODE_LIST, NULL, NULL },
	{ "instance/network-interfaces/0/", NODE_DIRECTORY, NULL, NULL },
	{ "instance/network-interfaces/0/access-configs/", NODE_LIST, NULL, NULL },
	{ "instance/network-interfaces/0/forwarded-ips/", NODE_LIST, NULL, NULL },
	{ "instance/network-interfaces/0/ip", NODE_TEXT, NULL, address_put },
	{ "instance/network-interfaces/0/ip-aliases/", NODE_LIST, NULL, NULL },
	{ "instance/network-interfaces/0/mac", NODE_TEXT, NULL, mac_put },
	{ "instance/network-interfaces/0/network", NODE_TEXT, NULL, network_put },
	{ "instance/network-interfaces/0/target-instance-ips", NODE_LINES, "", NULL },
	{ "instance/preempted", NODE_TEXT, "FALSE", NULL },
	{ "instance/remaining-cpu-time", NODE_NUMBER, "-1", NULL },
	{ "instance/scheduling/", NODE_DIRECTORY, NULL, NULL },
	{ "instance/scheduling/automatic-restart", NODE_TEXT, "TRUE", NULL },
	{ "instance/scheduling/on-host-maintenance", NODE_TEXT, "MIGRATE", NULL },
	{ "instance/scheduling/preemptible", NODE_TEXT, "FALSE", NULL },
	{ "instance/service-accounts/", NODE_MAP, NULL, NULL },
	{ "instance/service-accounts/@/", NODE_DIRECTORY, NULL, NULL },
	{ "instance/service-accounts/@/aliases", NODE_LINES, "default\n", NULL },
	{ "instance/service-accounts/@/email", NODE_TEXT, NULL, email_put },
	{ "instance/service-accounts/@/identity", NODE_IDENTITY, "", NULL },
	{ "instance/service-accounts/@/scopes", NODE_LINES, METADATA_SCOPE "\n", NULL },
	{ "instance/service-accounts/@/token", NODE_TOKEN, "", NULL },
	{ "instance/tags", NODE_LINES_AS_JSON, "", NULL },
	{ "instance/virtual-clock/", NODE_DIRECTORY, NULL, NULL },
	{ "instance/virtual-clock/drift-token", NODE_TEXT, "0", NULL },
	{ "instance/zone", NODE_TEXT, NULL, zone_put },
	{ "oslogin/", NODE_DIRECTORY, NULL, NULL },
	{ "oslogin/authenticate/", NODE_DIRECTORY, NULL, NULL },
	{ "oslogin/authenticate/sessions/", NODE_DIRECTORY, NULL, NULL },
	{ "project/", NODE_DIRECTORY, NULL, NULL },
	{ "project/attributes/", NODE_MAP, NULL, NULL },
	{ "project/numeric-project-id", NODE_NUMBER, NULL, project_number_put },
	{ "project/project-id", NODE_TEXT, NULL, project_id_put },
	{ "universe/", NODE_DIRECTORY, NULL, NULL },
	{ "universe/universe-domain", NODE_TEXT, "googleapis.com", NULL },
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

void metadata_tree_deinit(struct metadata_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		text_deinit(&tree->nodes[i].value);
	free(tree->nodes);
	*tree = (struct metadata_tree){ 0 };
}

/* False when the node is too long or memory ran out. */
static bool node_add(struct metadata_tree *tree, const struct view *view, const struct row *row,
		     const char *account)
{
	struct node *node = &tree->nodes[tree->count++];
	const char *at = strchr(row->path, '@');
	int length = at ? snprintf(node->path, sizeof(node->path), "%.*s%s%s", (int)(at - row->path),
				   row->path, account, at + 1)
			: snprintf(node->path, sizeof(node->path), "%s", row->path);

	node->kind = row->kind;
	if (row->write)
		row->write(view, &node->value);
	else
		text_puts(&node->value, row->text ? row->text : "");
	return length >= 0 && (size_t)length < sizeof(node->path) && !node->value.failed;
}

/* The rows from @first on that have an "@". */
static size_t account_rows(size_t first)
{
	size_t count = 0;

	while (first + count < ROW_COUNT && strchr(rows[first + count].path, '@'))
		count++;
	return count;
}

static bool accounts_add(struct metadata_tree *tree, const struct view *view, size_t first, size_t count)
{
	const char *names[] = { view->context->email, "default" };
	const bool email_last = strcmp(names[0], names[1]) > 0;
	bool good = true;

	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < count; i++)
			good &= node_add(tree, view, &rows[first + i], names[email_last ? 1 - k : k]);
	return good;
}

enum status metadata_tree_init(struct metadata_tree *tree, const struct metadata_context *context,
			       const struct metadata_instance *instance, uint32_t peer, struct error *err)
{
	const struct view view = { context, instance, peer };
	bool good = true;

	*tree = (struct metadata_tree){ .nodes = calloc(2 * (size_t)ROW_COUNT, sizeof(*tree->nodes)) };
	if (!tree->nodes)
		return error_no_memory(err);
	for (size_t i = 0; i < ROW_COUNT;) {
		const size_t count = account_rows(i);

		good &= count ? accounts_add(tree, &view, i, count) : node_add(tree, &view, &rows[i], "");
		i += count ? count : 1;
	}
	if (good)
		return STATUS_OK;
	metadata_tree_deinit(tree);
	return error_no_memory(err);
}

const struct node *metadata_tree_find(const struct metadata_tree *tree, const char *path)
{
	for (size_t i = 0; i < tree->count; i++)
		if (strcmp(tree->nodes[i].path, path) == 0)
			return &tree->nodes[i];
	return NULL;
}

bool node_is_directory(const struct node *node)
{
	return node->kind == NODE_DIRECTORY || node->kind == NODE_MAP || node->kind == NODE_LIST;
}

/* What follows the directory's path in @node's, or NULL when it is not below it. */
static const char *name_below(const struct node *directory, const struct node *node)
{
	const size_t length = strlen(directory->path);

	return strncmp(node->path, directory->path, length) == 0 && node->path[length] ? node->path + length
										       : NULL;
}

/* The name of a node that is in the directory itself, perhaps with a slash; or NULL. */
static const char *name_in(const struct node *directory, const struct node *node)
{
	const char *name = name_below(directory, node);
	const char *slash = name ? strchr(name, '/') : NULL;

	return slash && slash[1] ? NULL : name;
}

void metadata_tree_list(const struct metadata_tree *tree, const struct node *directory, struct text *text)
{
	for (size_t i = 0; i < tree->count; i++) {
		const char *name = name_in(directory, &tree->nodes[i]);

		if (name)
			text_printf(text, "%s\n", name);
	}
}

/* "on-host-maintenance/" becomes "onHostMaintenance"; of a map, the slash alone goes. */
static void member_write(struct text *text, enum node_kind kind, const char *name)
{
	for (; *name && *name != '/'; name++) {
		const bool next_large = kind != NODE_MAP && *name == '-' && name[1] >= 'a' && name[1] <= 'z';

		text_putc(text, next_large ? (char)(*++name - 'a' + 'A') : *name);
	}
}

static json_t *lines_json(const struct node *node)
{
	json_t *lines = json_array();

	for (const char *at = node->value.data, *end; lines && (end = strchr(at, '\n')); at = end + 1)
		json_array_append_new(lines, json_stringn(at, (size_t)(end - at)));
	return lines;
}

static bool member_add(json_t *whole, const struct node *directory, const char *name, json_t *value)
{
	struct text member AUTO_TEXT = { 0 };

	if (directory->kind == NODE_LIST)
		return json_array_append_new(whole, value) == 0;
	member_write(&member, directory->kind, name);
	if (!member.failed)
		return json_object_set_new(whole, member.data, value) == 0;
	json_decref(value);
	return false;
}

static json_t *directory_json(const struct metadata_tree *tree, const struct node *directory)
{
	AUTO(json) json_t *whole = directory->kind == NODE_LIST ? json_array() : json_object();

	for (size_t i = 0; whole && i < tree->count; i++) {
		const struct node *node = &tree->nodes[i];
		const char *name = name_in(directory, node);

		if (!name || node->kind == NODE_TOKEN || node->kind == NODE_IDENTITY)
			continue;
		if (!member_add(whole, directory, name, metadata_tree_json(tree, node)))
			return NULL;
	}
	return TAKE(whole);
}

json_t *metadata_tree_json(const struct metadata_tree *tree, const struct node *node)
{
	switch (node->kind) {
	case NODE_DIRECTORY:
	case NODE_MAP:
	case NODE_LIST:
		return directory_json(tree, node);
	case NODE_NUMBER:
		return json_integer((json_int_t)strtoll(node->value.data, NULL, 10));
	case NODE_LINES:
	case NODE_LINES_AS_JSON:
		return lines_json(node);
	case NODE_TEXT:
	case NODE_TOKEN:
	case NODE_IDENTITY:
		break;
	}
	return json_string(node->value.data);
}

/* A line for each value. */
static void node_lines(const struct node *node, const char *name, struct text *text)
{
	const char *at = node->value.data;
	size_t length;

	if (node->kind != NODE_LINES && node->kind != NODE_LINES_AS_JSON) {
		text_printf(text, "%s %s\n", name, at);
		return;
	}
	for (; *at; at += length + 1) {
		length = strcspn(at, "\n");
		text_printf(text, "%s %.*s\n", name, (int)length, at);
	}
}

void metadata_tree_text(const struct metadata_tree *tree, const struct node *node, struct text *text)
{
	if (!node_is_directory(node)) {
		text_puts(text, node->value.data);
		return;
	}
	for (size_t i = 0; i < tree->count; i++) {
		const struct node *leaf = &tree->nodes[i];
		const char *name = name_below(node, leaf);

		if (name && !node_is_directory(leaf) && leaf->kind != NODE_TOKEN &&
		    leaf->kind != NODE_IDENTITY)
			node_lines(leaf, name, text);
	}
}
