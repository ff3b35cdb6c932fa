/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_directory.h: a directory that a program has open: the stored names (gcs_index.h), then the names of
 * files that are being written and are not objects yet. Thread: any that holds the directory's lock. */
#include "daemon/gcs/gcs_files.h"
#include "daemon/gcs/gcs_index.h"

struct gcs_directory;

/* Opens a directory. ENFILE: too many are open (gcs_node.h). */
int gcs_directory_open(const struct gcs_index *index, struct gcs_files *files, const struct gcs_path *path,
		       pid_t caller, struct gcs_directory **ret_directory);
void gcs_directory_close(struct gcs_directory *directory);
const struct gcs_path *gcs_directory_path(const struct gcs_directory *directory);

void gcs_directory_lock(struct gcs_directory *directory);
void gcs_directory_unlock(struct gcs_directory *directory);

/* Reads the entry at position @place; position 0 rereads the directory. *ret_name is valid until the next call; NULL
 * means the end. Returns 0, or a negative errno. */
int gcs_directory_at(struct gcs_directory *directory, pid_t caller, int64_t place, const char **ret_name,
		     struct gcs_facts *ret_facts);
