/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_directory.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "daemon/gcs/gcs_node.h"

struct gcs_directory {
	pthread_mutex_t lock;
	const struct gcs_index *index;
	struct gcs_files *files;
	struct gcs_path path;
	struct gcs_node *opener;
	struct gcs_listing *listing;
	/* Names of files that are not objects yet; they are listed after all stored names. */
	char **fresh;
	size_t fresh_count;
	bool is_listed; /* all stored names were listed, and fresh holds the names that follow */
};

static void fresh_forget(struct gcs_directory *directory)
{
	while (directory->fresh_count > 0)
		free(directory->fresh[--directory->fresh_count]);
	free(directory->fresh);
	directory->fresh = NULL;
	directory->is_listed = false;
}

int gcs_directory_open(const struct gcs_index *index, struct gcs_files *files, const struct gcs_path *path,
		       pid_t caller, struct gcs_directory **ret_directory)
{
	struct gcs_directory *directory = memory_calloc(1, sizeof(*directory));
	int problem;

	directory->index = index;
	directory->files = files;
	directory->path = *path;
	pthread_mutex_init(&directory->lock, NULL);
	problem = gcs_node_open(gcs_files_nodes(files), gcs_node_of(caller), &directory->opener);
	if (problem) {
		gcs_directory_close(directory);
		return problem;
	}
	directory->listing = gcs_listing_new(index, path);
	*ret_directory = directory;
	return 0;
}

void gcs_directory_close(struct gcs_directory *directory)
{
	fresh_forget(directory);
	gcs_listing_free(directory->listing);
	gcs_node_close(gcs_files_nodes(directory->files), directory->opener);
	pthread_mutex_destroy(&directory->lock);
	free(directory);
}

const struct gcs_path *gcs_directory_path(const struct gcs_directory *directory)
{
	return &directory->path;
}

void gcs_directory_lock(struct gcs_directory *directory)
{
	pthread_mutex_lock(&directory->lock);
}

void gcs_directory_unlock(struct gcs_directory *directory)
{
	pthread_mutex_unlock(&directory->lock);
}

static void fresh_add(void *arg, const char *name)
{
	struct gcs_directory *directory = arg;
	char **names = memory_resize(directory->fresh, directory->fresh_count + 1, sizeof(*names));

	directory->fresh = names;
	names[directory->fresh_count++] = memory_strdup(name);
}

static bool is_stored(const struct gcs_directory *directory, const char *name)
{
	struct gcs_path path;
	struct gcs_facts facts;

	return !gcs_path_join(&directory->path, name, &path) ||
	       gcs_look(directory->index, &path, &facts) != -ENOENT;
}

static void fresh_find(struct gcs_directory *directory, pid_t caller)
{
	char prefix[GCS_OBJECT_SIZE];
	size_t kept = 0;

	gcs_path_prefix(&directory->path, prefix);
	gcs_changes_each(directory->files, directory->path.bucket, prefix, caller, fresh_add, directory);
	for (size_t i = 0; i < directory->fresh_count; i++) {
		bool is_known = is_stored(directory, directory->fresh[i]);

		for (size_t j = 0; !is_known && j < kept; j++)
			is_known = strcmp(directory->fresh[j], directory->fresh[i]) == 0;
		if (is_known)
			free(directory->fresh[i]);
		else
			directory->fresh[kept++] = directory->fresh[i];
	}
	directory->fresh_count = kept;
	directory->is_listed = true;
}

int gcs_directory_at(struct gcs_directory *directory, pid_t caller, int64_t place, const char **ret_name,
		     struct gcs_facts *ret_facts)
{
	const struct gcs_entry *entry = NULL;
	struct gcs_path path;
	int64_t behind;
	int problem = 0;

	if (place == 0)
		fresh_forget(directory);
	if (!directory->is_listed || place < gcs_listing_count(directory->listing))
		problem = gcs_listing_at(directory->listing, caller, place, &entry);
	if (problem)
		return problem;
	*ret_name = entry ? entry->name : NULL;
	if (entry) {
		*ret_facts = entry->facts;
		return 0;
	}
	if (!directory->is_listed)
		fresh_find(directory, caller);
	behind = place - gcs_listing_count(directory->listing);
	if (behind >= (int64_t)directory->fresh_count)
		return 0;
	*ret_name = directory->fresh[behind];
	*ret_facts = (struct gcs_facts){ 0 };
	if (gcs_path_join(&directory->path, *ret_name, &path))
		gcs_changes_look(directory->files, &path, caller, ret_facts);
	return 0;
}
