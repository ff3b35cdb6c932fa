/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_files_parts.h: what gcs_files.c, of open files, gcs_flush.c, of their storing, and gcs_names.c, of
 * their names, share. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/gcs/gcs_files.h"
#include "daemon/gcs/gcs_node.h"

struct gcs_call;
struct object_reader;

enum { GCS_CHAIN_COUNT = 1024 };

/* What several handles may share. */
struct gcs_file {
	/* Under the lock of all. */
	struct gcs_file *next;
	char *bucket, *object;
	unsigned handles;
	uint64_t node;           /* gcs_node_of() the process that opened it: other nodes do not see its changes */
	bool is_named;           /* in its chain: what it becomes is stored under its name */
	int64_t base_generation; /* of what its changes, if any, are made to; 0: nothing */
	/* Writes hold the file's own lock, which is taken before the lock of all files, by gcs_file_lock(). A flush holds it for
	 * as long as it takes, so readers do without it. */
	pthread_mutex_t lock;
	int changed_fd; /* atomic; -1: it is as it is stored; otherwise it stays open until the end */
	bool is_dirty;  /* atomic */
	int64_t given_up_us; /* atomic; when a program that was killed no longer waited for its storing; 0: none did */
	unsigned
		hurried; /* atomic; how many changes of its name wait for its lock: a thread that stores it gives way */
	bool is_cut_off; /* atomic; its container had no network when it was to be stored, and was told so */
	int64_t until_us; /* atomic; until then all together wait to store what it is now; 0: nobody has yet */
	int64_t generation;     /* as which the changed bytes were stored; 0: not yet */
	int64_t modified_ns;    /* atomic; 0: as its object says */
	struct gcs_node *owner; /* its share of the disk holds the file; NULL: the file is only read */
	int64_t reserved_bytes; /* under the owner's lock */
};

struct gcs_handle {
	struct gcs_handle *next, **self; /* in the list of all, under its lock */
	struct gcs_node *opener;
	struct gcs_files *files;
	struct gcs_file *file;
	bool writes;
	struct object_reader *reader; /* NULL: the file was changed before it was opened */
};

struct gcs_files {
	const struct gcs_index *index;
	struct gcs_client *client;
	int state_fd;
	pthread_mutex_t lock;
	struct gcs_file *chains[GCS_CHAIN_COUNT]; /* in each, the newest first */
	struct gcs_nodes *nodes;
	struct gcs_handle *handles; /* all that are open */
	int64_t end_us; /* when all storing ends, as nobody has the files any more; 0: it goes on */
};

/* ---- under the lock of all ---- */

/* The newest of a name on a node; NULL. */
struct gcs_file *gcs_file_find(struct gcs_files *files, const char *bucket, const char *object,
			       uint64_t node);
void gcs_file_name(struct gcs_files *files, struct gcs_file *file);
void gcs_file_unname(struct gcs_files *files, struct gcs_file *file);
/* Whatever is open under the name on a node becomes nothing. */
void gcs_names_forget(struct gcs_files *files, const char *bucket, const char *object, uint64_t node);

/* ---- without it ---- */

/* The newest of a name that has changes, on the caller's node, held until it is left. NULL: there is none. */
struct gcs_file *gcs_file_join(struct gcs_files *files, const char *bucket, const char *object, pid_t caller);
void gcs_file_leave(struct gcs_files *files, struct gcs_file *file);
/* Where it is to be stored now; false: nowhere, it was removed. */
bool gcs_file_place(struct gcs_files *files, const struct gcs_file *file, struct gcs_path *ret_path);
/* Waits for the file's own lock (gcs_wait.h). In a hurry, a thread that is storing the file gives way and starts again when
 * the lock is free. Returns 0 with the lock held. */
int gcs_file_lock(struct gcs_files *files, struct gcs_file *file, const struct gcs_call *call);
/* Stores what is not stored. Its own lock is held. */
int gcs_file_store(struct gcs_files *files, struct gcs_file *file, const struct gcs_call *call);
