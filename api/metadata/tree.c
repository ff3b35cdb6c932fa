/* SPDX-License-Identifier: Apache-2.0 */
#include "api/metadata/tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/metadata/account.h"

typedef void (*value_put)(const struct metadata_tree *tree, struct text *text);

void metadata_zone_write(const char *region, struct text *text)
{
	text_printf(text, "%s-b", region);
}

static void hostname_put(const struct metadata_tree *tree, struct text *text)
{
	text_printf(text, "%s.c.%s.internal", tree->instance->hostname, tree->context->project_id);
}

/* Masks the id to 63 bits, the size of integers in JSON here. */
static void id_put(const struct metadata_tree *tree, struct text *text)
{
	text_printf(text, "%" PRIu64, tree->instance->id & INT64_MAX);
}

/* Choice: without a requested machine type, the replica reports that of the scale tier BASIC.
 * Source: https://cloud.google.com/ai-platform/training/docs/machine-types (BASIC: n1-standard-4) */
static void machine_type_put(const struct metadata_tree *tree, struct text *text)
{
	const char *type = tree->instance->machine_type;

	text_printf(text, "projects/%s/machineTypes/%s", tree->context->project_number,
		    *type ? type : "n1-standard-4");
}

static void name_put(const struct metadata_tree *tree, struct text *text)
{
	text_puts(text, tree->instance->hostname);
}

static void address_put(const struct metadata_tree *tree, struct text *text)
{
	text_printf(text, "%u.%u.%u.%u", tree->peer >> 24, tree->peer >> 16 & 255, tree->peer >> 8 & 255,
		    tree->peer & 255);
}

/* Derives the MAC address from the IP address, as Compute Engine does. */
static void mac_put(const struct metadata_tree *tree, struct text *text)
{
	text_printf(text, "42:01:%02x:%02x:%02x:%02x", tree->peer >> 24, tree->peer >> 16 & 255,
		    tree->peer >> 8 & 255, tree->peer & 255);
}

static void network_put(const struct metadata_tree *tree, struct text *text)
{
	text_printf(text, "projects/%s/networks/default", tree->context->project_number);
}

static void email_put(const struct metadata_tree *tree, struct text *text)
{
	text_puts(text, tree->context->email);
}

static void zone_put(const struct metadata_tree *tree, struct text *text)
{
	text_printf(text, "projects/%s/zones/", tree->context->project_number);
	metadata_zone_write(tree->context->region, text);
}

static void project_number_put(const struct metadata_tree *tree, struct text *text)
{
	text_puts(text, tree->context->project_number);
}

static void project_id_put(const struct metadata_tree *tree, struct text *text)
{
	text_puts(text, tree->context->project_id);
}

/* All names, sorted. "@" stands for the account: each row with it occurs twice, with the e-mail address and with
 * "default".
 *
 * Choice: the CPU platform is unknown (a client must not tune itself to a processor that does not exist here); the
 * values about a network's router are left out, because the container's router is another one. */
static const struct metadata_row {
	const char *path;
	enum node_kind kind;
	const char *text; /* the value itself; NULL: write() writes it, or the node has no value */
	value_put write;  /* the function that writes the value */
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

_Static_assert(2 * ROW_COUNT <= METADATA_NODES_MAX, "each row could be the account's, and be there twice");

static bool row_is_account(const struct metadata_row *row)
{
	return strchr(row->path, '@') != NULL;
}

static size_t account_rows(size_t first)
{
	size_t count = 0;

	while (first + count < ROW_COUNT && row_is_account(&rows[first + count]))
		count++;
	return count;
}

static void nodes_add(struct metadata_tree *tree, size_t first, size_t count, const char *account)
{
	for (size_t i = first; i < first + count; i++)
		tree->nodes[tree->count++] = (struct node){ &rows[i], rows[i].kind, account };
}

void metadata_tree_init(struct metadata_tree *tree, const struct metadata_context *context,
			const struct metadata_instance *instance, uint32_t peer)
{
	const bool email_last = strcmp(context->email, "default") > 0;

	*tree = (struct metadata_tree){ .context = context, .instance = instance, .peer = peer };
	for (size_t i = 0; i < ROW_COUNT;) {
		const size_t count = account_rows(i);

		nodes_add(tree, i, count ? count : 1, email_last ? "default" : context->email);
		if (count)
			nodes_add(tree, i, count, email_last ? context->email : "default");
		i += count ? count : 1;
	}
}

static bool path_is(const struct node *node, const char *path)
{
	const char *own = node->row->path;
	const size_t before = strcspn(own, "@"), account = strlen(node->account);

	if (!own[before])
		return strcmp(own, path) == 0;
	return strncmp(own, path, before) == 0 && strncmp(node->account, path + before, account) == 0 &&
	       strcmp(own + before + 1, path + before + account) == 0;
}

const struct node *metadata_tree_find(const struct metadata_tree *tree, const char *path)
{
	for (size_t i = 0; i < tree->count; i++)
		if (path_is(&tree->nodes[i], path))
			return &tree->nodes[i];
	return NULL;
}

bool node_is_directory(const struct node *node)
{
	return node->kind == NODE_DIRECTORY || node->kind == NODE_MAP || node->kind == NODE_LIST;
}

/* Returns the part of the node's path below @directory, with the row's "@" not replaced; NULL: the node is not below
 * it. */
static const char *name_below(const struct node *directory, const struct node *node)
{
	const char *own = directory->row->path;
	const size_t length = strlen(own);

	if (row_is_account(directory->row) && strcmp(directory->account, node->account) != 0)
		return NULL;
	return strncmp(node->row->path, own, length) == 0 && node->row->path[length]
		       ? node->row->path + length
		       : NULL;
}

/* Returns the name of a node that is directly in @directory, with a slash if it is a directory; NULL: it is not. */
static const char *name_in(const struct node *directory, const struct node *node)
{
	const char *name = name_below(directory, node);
	const char *slash = name ? strchr(name, '/') : NULL;

	return slash && slash[1] ? NULL : name;
}

static void name_write(struct text *text, const struct node *node, const char *name)
{
	for (; *name; name++) {
		if (*name == '@')
			text_puts(text, node->account);
		else
			text_putc(text, *name);
	}
}

static void value_write(struct text *text, const struct metadata_tree *tree, const struct node *node)
{
	if (node->row->write)
		node->row->write(tree, text);
	else
		text_puts(text, node->row->text ? node->row->text : "");
}

void metadata_tree_list(const struct metadata_tree *tree, const struct node *directory, struct text *text)
{
	for (size_t i = 0; i < tree->count; i++) {
		const char *name = name_in(directory, &tree->nodes[i]);

		if (!name)
			continue;
		name_write(text, &tree->nodes[i], name);
		text_putc(text, '\n');
	}
}

/* Writes a name as a JSON member: "on-host-maintenance/" becomes "onHostMaintenance"; in a map, only the slash is
 * removed. */
static void member_write(struct text *text, enum node_kind kind, const char *name)
{
	for (; *name && *name != '/'; name++) {
		const bool next_large = kind != NODE_MAP && *name == '-' && name[1] >= 'a' && name[1] <= 'z';

		text_putc(text, (char)(next_large ? *++name - 'a' + 'A' : *name));
	}
}

static json_t *lines_json(const char *at)
{
	json_t *lines = json_array();

	for (const char *end; (end = strchr(at, '\n')); at = end + 1)
		json_array_append_new(lines, json_stringn(at, (size_t)(end - at)));
	return lines;
}

static void member_add(json_t *whole, const struct node *directory, const struct node *node, const char *name,
		       json_t *value)
{
	struct text plain AUTO_TEXT = { 0 };
	struct text member AUTO_TEXT = { 0 };

	if (directory->kind == NODE_LIST) {
		json_array_append_new(whole, value);
		return;
	}
	name_write(&plain, node, name);
	member_write(&member, directory->kind, plain.data);
	json_object_set_new(whole, member.data, value);
}

static json_t *directory_json(const struct metadata_tree *tree, const struct node *directory)
{
	AUTO(json) json_t *whole = directory->kind == NODE_LIST ? json_array() : json_object();

	for (size_t i = 0; i < tree->count; i++) {
		const struct node *node = &tree->nodes[i];
		const char *name = name_in(directory, node);

		if (!name || node->kind == NODE_TOKEN || node->kind == NODE_IDENTITY)
			continue;
		member_add(whole, directory, node, name, metadata_tree_json(tree, node));
	}
	return TAKE(whole);
}

static json_t *value_json(enum node_kind kind, const char *value)
{
	switch (kind) {
	case NODE_NUMBER:
		return json_integer((json_int_t)strtoll(value, NULL, 10));
	case NODE_LINES:
	case NODE_LINES_AS_JSON:
		return lines_json(value);
	default:
		return json_string(value);
	}
}

json_t *metadata_tree_json(const struct metadata_tree *tree, const struct node *node)
{
	struct text value AUTO_TEXT = { 0 };

	if (node_is_directory(node))
		return directory_json(tree, node);
	value_write(&value, tree, node);
	return value_json(node->kind, value.data);
}

/* Writes a line for each value of the leaf. */
static void leaf_lines(const struct metadata_tree *tree, const struct node *leaf, const char *name,
		       struct text *text)
{
	struct text value AUTO_TEXT = { 0 };

	value_write(&value, tree, leaf);
	/* A value of several lines already ends with a line end. */
	if (leaf->kind != NODE_LINES && leaf->kind != NODE_LINES_AS_JSON)
		text_putc(&value, '\n');
	for (const char *at = value.data, *end; (end = strchr(at, '\n')); at = end + 1) {
		name_write(text, leaf, name);
		text_printf(text, " %.*s\n", (int)(end - at), at);
	}
}

void metadata_tree_text(const struct metadata_tree *tree, const struct node *node, struct text *text)
{
	if (!node_is_directory(node)) {
		value_write(text, tree, node);
		return;
	}
	for (size_t i = 0; i < tree->count; i++) {
		const struct node *leaf = &tree->nodes[i];
		const char *name = name_below(node, leaf);

		if (name && !node_is_directory(leaf) && leaf->kind != NODE_TOKEN &&
		    leaf->kind != NODE_IDENTITY)
			leaf_lines(tree, leaf, name, text);
	}
}
