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

/* A file that is open; several handles may share it. */
struct gcs_file {
	/* The members down to base_generation are protected by the lock of all files. */
	struct gcs_file *next;
	char *bucket, *object;
	unsigned handles;
	uint64_t node;           /* gcs_node_of() of the opening process: other nodes do not see its changes */
	bool is_named;           /* the file is in a chain of struct gcs_files: its changes are stored under its name */
	int64_t base_generation; /* generation of the object that the changes started from; 0: none */
	/* A write holds this lock, which is taken by gcs_file_lock() and before the lock of all files. A flush holds
	 * it until all is stored; reads work without it. */
	pthread_mutex_t lock;
	int changed_fd; /* atomic; file with the changed bytes, open until the end; -1: unchanged */
	bool is_dirty;  /* atomic */
	int64_t given_up_us; /* atomic; when the wait to store it ended because its program was killed; 0: never */
	unsigned
		hurried; /* atomic; number of renames that wait for its lock: a thread that stores it gives way */
	bool is_cut_off; /* atomic; a flush failed because the container had no network, and the program got an error */
	int64_t until_us; /* atomic; time limit for all calls that wait to store the present contents; 0: not set */
	int64_t generation;  /* generation of the object made of the changed bytes; 0: not stored yet */
	int64_t modified_ns; /* atomic; 0: the object's own */
	struct gcs_node
		*owner; /* the node that the file's disk space is counted for; NULL: the file is only read */
	int64_t reserved_bytes; /* under the owner's lock */
};

struct gcs_handle {
	struct gcs_handle *next, **self; /* in the list of all handles, protected by the lock of all files */
	struct gcs_node *opener;
	struct gcs_files *files;
	struct gcs_file *file;
	bool writes;
	struct object_reader *reader; /* of the stored object; NULL: the file had changes when this handle was opened */
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

/* ---- call with the lock of all files held ---- */

/* The newest open file of a name on a node; NULL: none. */
struct gcs_file *gcs_file_find(struct gcs_files *files, const char *bucket, const char *object,
			       uint64_t node);
void gcs_file_name(struct gcs_files *files, struct gcs_file *file);
void gcs_file_unname(struct gcs_files *files, struct gcs_file *file);
/* Detaches all open files of the name on a node: their changes are dropped. */
void gcs_names_forget(struct gcs_files *files, const char *bucket, const char *object, uint64_t node);

/* ---- call without the lock ---- */

/* The newest changed file of a name on the caller's node, with a reference that gcs_file_leave() releases. NULL: there
 * is none. */
struct gcs_file *gcs_file_join(struct gcs_files *files, const char *bucket, const char *object, pid_t caller);
void gcs_file_leave(struct gcs_files *files, struct gcs_file *file);
/* Returns the path under which to store the file now. False: the file was removed, and has no path. */
bool gcs_file_place(struct gcs_files *files, const struct gcs_file *file, struct gcs_path *ret_path);
/* Waits for the file's own lock (gcs_wait.h). If @call hurries, a thread that is storing the file gives way, and
 * starts again when the lock is free. Returns 0 with the lock held. */
int gcs_file_lock(struct gcs_files *files, struct gcs_file *file, const struct gcs_call *call);
/* Stores the file's changes. The caller holds the file's own lock. */
int gcs_file_store(struct gcs_files *files, struct gcs_file *file, const struct gcs_call *call);
