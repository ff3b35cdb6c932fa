/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_index.h: what is stored, as directories and files. It is read from the store itself, which the
 * daemon writes: nothing is asked of the daemon, nothing is kept, and all is seen as soon as it is stored. Thread:
 * any, but a listing: one at a time. Results are 0 or a negative errno. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/base/error.h"
#include "daemon/gcs/gcs_path.h"

struct objects;

struct gcs_index {
	struct objects *objects;
	bool auto_buckets; /* a bucket that is not there is an empty directory: programs look before they write */
	int64_t begun_ns; /* the time of directories that have none */
};

struct gcs_facts {
	bool is_directory, is_link;
	int64_t size_bytes, modified_ns;
	int64_t generation; /* of a file's object; 0: it is none, or not as it is */
};

/* What an error of the store or of Cloud Storage is called by programs. */
int gcs_errno_of(enum status status);

/* ENOENT. */
int gcs_look(const struct gcs_index *index, const struct gcs_path *path, struct gcs_facts *ret_facts);
/* Where a link leads; EINVAL: it is none. The text ends where there is no more room. */
int gcs_link_read(const struct gcs_index *index, const struct gcs_path *path, char *ret_target, size_t size);
/* Whether nothing is in the directory; that it is there by an object of its own does not count. */
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
/* How many there were when the end was met. */
int64_t gcs_listing_count(const struct gcs_listing *listing);

/* Calls @each with the name of every object that begins with @prefix. An error that it returns ends that. */
int gcs_objects_each(const struct gcs_index *index, const char *bucket, const char *prefix,
		     int (*each)(void *arg, const char *object), void *arg);
