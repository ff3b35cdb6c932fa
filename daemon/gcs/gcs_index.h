/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_index.h: the stored objects as directories and files. It reads the store itself, which the daemon
 * writes, without asking the daemon and without a cache, so every change is visible as soon as it is stored. Thread:
 * any, except a listing: one at a time. Results are 0 or a negative errno. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/base/error.h"
#include "daemon/gcs/gcs_path.h"

struct objects;

struct gcs_index {
	struct objects *objects;
	/* a bucket that does not exist counts as an empty directory, because programs look before they write */
	bool auto_buckets;
	int64_t begun_ns; /* the time of a directory that has no object of its own */
};

struct gcs_facts {
	bool is_directory, is_link;
	int64_t size_bytes, modified_ns;
	int64_t generation; /* of a file's object; 0: a directory, or a file with unsaved changes */
};

/* Converts an error of the store or of Cloud Storage to a negative errno. */
int gcs_errno_of(enum status status);

/* Finds the facts of a file or a directory. ENOENT: nothing has this path. */
int gcs_look(const struct gcs_index *index, const struct gcs_path *path, struct gcs_facts *ret_facts);
/* Reads the target of a symbolic link, cut to @size bytes. EINVAL: the object is not a link. */
int gcs_link_read(const struct gcs_index *index, const struct gcs_path *path, char *ret_target, size_t size);
/* Sets *ret_empty if the directory has no entries; an object of its own does not count. */
int gcs_directory_is_empty(const struct gcs_index *index, const struct gcs_path *path, bool *ret_empty);

struct gcs_entry {
	char *name;
	struct gcs_facts facts;
};

/* A directory that is being listed, a page at a time. */
struct gcs_listing;
struct gcs_listing *gcs_listing_new(const struct gcs_index *index, const struct gcs_path *path);
void gcs_listing_free(struct gcs_listing *listing);
/* Reads the entry at position @place, from 0; *ret_entry is valid until the next call, NULL: there are no more
 * entries. The next position is cheap; an earlier one rereads the directory from its start, which is slow. EINTR:
 * the caller was killed. */
int gcs_listing_at(struct gcs_listing *listing, pid_t caller, int64_t place,
		   const struct gcs_entry **ret_entry);
/* Number of entries; known when the end was reached. */
int64_t gcs_listing_count(const struct gcs_listing *listing);

/* Calls @each with the name of every object that begins with @prefix. An error that it returns stops the iteration. */
int gcs_objects_each(const struct gcs_index *index, const char *bucket, const char *prefix,
		     int (*each)(void *arg, const char *object), void *arg);
