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
	int64_t begun_ns; /* the time of directories without one */
};

struct gcs_facts {
	bool is_directory, is_link;
	int64_t size_bytes, modified_ns;
	int64_t generation; /* of a file's object; 0: none, or it was changed */
};

/* The errno for an error of the store or of Cloud Storage. */
int gcs_errno_of(enum status status);

/* ENOENT. */
int gcs_look(const struct gcs_index *index, const struct gcs_path *path, struct gcs_facts *ret_facts);
/* The target of a link; EINVAL: it is not a link. The text is cut if there is not enough room. */
int gcs_link_read(const struct gcs_index *index, const struct gcs_path *path, char *ret_target, size_t size);
/* Whether the directory is empty, not counting an object of its own. */
int gcs_directory_is_empty(const struct gcs_index *index, const struct gcs_path *path, bool *ret_empty);

struct gcs_entry {
	char *name;
	struct gcs_facts facts;
};

/* A directory that is being read, a page at a time. */
struct gcs_listing;
struct gcs_listing *gcs_listing_new(const struct gcs_index *index, const struct gcs_path *path);
void gcs_listing_free(struct gcs_listing *listing);
/* The entry at @place, from 0; *ret_entry NULL: there are no more. It lives until the next call.
 * Going on from where one was is cheap; going back begins anew, which lasts. EINTR: the caller was killed. */
int gcs_listing_at(struct gcs_listing *listing, pid_t caller, int64_t place,
		   const struct gcs_entry **ret_entry);
/* How many entries there were when the end was reached. */
int64_t gcs_listing_count(const struct gcs_listing *listing);

/* Calls @each with the name of every object that begins with @prefix. An error that it returns stops the iteration. */
int gcs_objects_each(const struct gcs_index *index, const char *bucket, const char *prefix,
		     int (*each)(void *arg, const char *object), void *arg);
