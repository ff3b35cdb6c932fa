/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/metadata/tree.h: the contents of one replica's metadata server: names and values, independent of HTTP. Pure.
 * Thread: any, one at a time.
 * Source: https://cloud.google.com/compute/docs/metadata/predefined-metadata-keys (read 2026-11-22) */
#include <jansson.h>
#include <stdint.h>

#include "api/metadata/metadata.h"
#include "daemon/base/text.h"

enum { METADATA_NODES_MAX = 128 };

enum node_kind {
	NODE_DIRECTORY, /* a JSON object with its members' names in camel case */
	NODE_MAP,       /* an object; its names are not converted */
	NODE_LIST,      /* a directory "0/", "1/" …; a JSON array */
	NODE_TEXT,
	NODE_NUMBER,
	NODE_LINES,         /* several values, each with a line end; a JSON array of strings */
	NODE_LINES_AS_JSON, /* like NODE_LINES, but shown as JSON by default */
	NODE_TOKEN,         /* made for each request; not part of its directory's JSON */
	NODE_IDENTITY,      /* made for each request, like NODE_TOKEN */
};

struct metadata_row;

struct node {
	const struct metadata_row *row;
	enum node_kind kind;
	const char *account; /* the account's name in the path: e-mail or "default"; borrowed */
};

/* The names of a replica; values are computed only when a request reads them. Borrows everything. */
struct metadata_tree {
	const struct metadata_context *context;
	const struct metadata_instance *instance;
	uint32_t peer;
	struct node nodes[METADATA_NODES_MAX]; /* a directory comes before its contents */
	size_t count;
};

/* Makes the tree of a replica. @peer: the replica's address. */
void metadata_tree_init(struct metadata_tree *tree, const struct metadata_context *context,
			const struct metadata_instance *instance, uint32_t peer);

/* The node at @path, below "/computeMetadata/v1/": the path of a directory ends in a slash, the root's is "". NULL:
 * there is none. */
const struct node *metadata_tree_find(const struct metadata_tree *tree, const char *path);
bool node_is_directory(const struct node *node);
/* Appends the names in a directory, one per line; names of directories end with a slash. */
void metadata_tree_list(const struct metadata_tree *tree, const struct node *directory, struct text *text);
/* Returns the node, with everything below it, as JSON. */
json_t *metadata_tree_json(const struct metadata_tree *tree, const struct node *node);
/* Appends the node, with everything below it, as lines "path value"; a single value is written without its path. */
void metadata_tree_text(const struct metadata_tree *tree, const struct node *node, struct text *text);

/* Writes the zone that the replicas of a region report, such as "us-central1-b". */
void metadata_zone_write(const char *region, struct text *text);
