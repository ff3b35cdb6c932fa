/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_files_parts.h: shared by gcs_files.c (open files), gcs_flush.c (storing them) and gcs_names.c (their
 * names). */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/gcs/gcs_files.h"
#include "daemon/gcs/gcs_node.h"

struct gcs_call;
struct object_reader;

enum { GCS_CHAIN_COUNT = 1024 };

/* An open file, which several handles may share. */
struct gcs_file {
	/* Under the lock of all. */
	struct gcs_file *next;
	char *bucket, *object;
	unsigned handles;
	uint64_t node;           /* gcs_node_of() the process that opened it: other nodes do not see its changes */
	bool is_named;           /* in its chain: its changes are stored under its name */
	int64_t base_generation; /* of the object that changes are based on; 0: none */
	/* Writes hold the file's own lock, which is taken before the lock of all files, by gcs_file_lock(). A flush
	 * holds it for its whole duration, so readers work without it. */
	pthread_mutex_t lock;
	int changed_fd; /* atomic; -1: unchanged; otherwise it stays open until the end */
	bool is_dirty;  /* atomic */
	int64_t given_up_us; /* atomic; when a killed program stopped waiting for it to be stored; 0: none did */
	unsigned
		hurried; /* atomic; how many renames of it wait for its lock: the thread that stores it gives way */
	bool is_cut_off; /* atomic; its container had no network when it was to be stored, and was told so by an error */
	int64_t until_us; /* atomic; the common limit of all calls that wait to store its present contents; 0: not set */
	int64_t generation;  /* of the object that has the changed bytes; 0: not stored yet */
	int64_t modified_ns; /* atomic; 0: the object's own */
	struct gcs_node
		*owner; /* the file is counted in its share of the disk; NULL: the file is only read */
	int64_t reserved_bytes; /* under the owner's lock */
};

struct gcs_handle {
	struct gcs_handle *next, **self; /* in the list of all, under its lock */
	struct gcs_node *opener;
	struct gcs_files *files;
	struct gcs_file *file;
	bool writes;
	struct object_reader *reader; /* NULL: the file had changes before it was opened */
};

struct gcs_files {
	const struct gcs_index *index;
	struct gcs_client *client;
	int state_fd;
	pthread_mutex_t lock;
	struct gcs_file *chains[GCS_CHAIN_COUNT]; /* in each, the newest first */
	struct gcs_nodes *nodes;
	struct gcs_handle *handles; /* all that are open */
	int64_t end_us; /* when all storing must end, because no container has the files any more; 0: not set */
};

/* ---- under the lock of all ---- */

/* The newest open file of a name on a node; NULL: none. */
struct gcs_file *gcs_file_find(struct gcs_files *files, const char *bucket, const char *object,
			       uint64_t node);
void gcs_file_name(struct gcs_files *files, struct gcs_file *file);
void gcs_file_unname(struct gcs_files *files, struct gcs_file *file);
/* Detaches all open files of the name on a node: their changes are dropped. */
void gcs_names_forget(struct gcs_files *files, const char *bucket, const char *object, uint64_t node);

/* ---- without it ---- */

/* The newest changed file of a name on the caller's node, referenced until it is left. NULL: there is none. */
struct gcs_file *gcs_file_join(struct gcs_files *files, const char *bucket, const char *object, pid_t caller);
void gcs_file_leave(struct gcs_files *files, struct gcs_file *file);
/* The path to store it at now; false: none, it was removed. */
bool gcs_file_place(struct gcs_files *files, const struct gcs_file *file, struct gcs_path *ret_path);
/* Waits for the file's own lock (gcs_wait.h). In a hurry, a thread that is storing the file gives way and starts again when
 * the lock is free. Returns 0 with the lock held. */
int gcs_file_lock(struct gcs_files *files, struct gcs_file *file, const struct gcs_call *call);
/* Stores its changes. Its own lock must be held. */
int gcs_file_store(struct gcs_files *files, struct gcs_file *file, const struct gcs_call *call);
