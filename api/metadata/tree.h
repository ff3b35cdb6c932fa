/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/metadata/tree.h: what one replica's metadata server has to tell: names and values, without HTTP.
 * Pure. Thread: any, one at a time.
 * Source: https://cloud.google.com/compute/docs/metadata/predefined-metadata-keys (read 2026-11-22) */
#include <jansson.h>
#include <stdint.h>

#include "api/metadata/metadata.h"
#include "daemon/base/text.h"

enum { METADATA_NODES_MAX = 128 };

enum node_kind {
	NODE_DIRECTORY, /* in JSON an object, its members' names in camel case */
	NODE_MAP,       /* the same with the names as they are */
	NODE_LIST,      /* a directory "0/", "1/" …: in JSON an array */
	NODE_TEXT,
	NODE_NUMBER,
	NODE_LINES,         /* several values, each with a line end; in JSON an array of strings */
	NODE_LINES_AS_JSON, /* the same, shown as JSON where nothing else is asked for */
	NODE_TOKEN,         /* made anew for each request: not part of its directory's JSON */
	NODE_IDENTITY,      /* likewise */
};

struct metadata_row;

struct node {
	const struct metadata_row *row;
	enum node_kind kind;
	const char *account; /* what stands for the account in its path; borrowed */
};

/* Of what there is to tell, the names alone: values are written when they are shown. Borrows all that it is made of. */
struct metadata_tree {
	const struct metadata_context *context;
	const struct metadata_instance *instance;
	uint32_t peer;
	struct node nodes[METADATA_NODES_MAX]; /* a directory stands before what is in it */
	size_t count;
};

/* @peer: the replica's address. */
void metadata_tree_init(struct metadata_tree *tree, const struct metadata_context *context,
			const struct metadata_instance *instance, uint32_t peer);

/* The one at @path, below "/computeMetadata/v1/": a directory's has its slash, the root's is "". NULL when there is none. */
const struct node *metadata_tree_find(const struct metadata_tree *tree, const char *path);
bool node_is_directory(const struct node *node);
/* The names in a directory, each with its line end, directories with their slash. */
void metadata_tree_list(const struct metadata_tree *tree, const struct node *directory, struct text *text);
/* A node, with all that is in it. */
json_t *metadata_tree_json(const struct metadata_tree *tree, const struct node *node);
/* The same as lines "path value"; a single value stands alone. */
void metadata_tree_text(const struct metadata_tree *tree, const struct node *node, struct text *text);

/* "us-central1-b": where a region's replicas are said to be. */
void metadata_zone_write(const char *region, struct text *text);
