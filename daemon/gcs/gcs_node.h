/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_node.h: a container that has open files, which stands for a machine of the cloud, and its share of
 * common resources: descriptors and memory, disk, and time after its programs were killed. Thread: any. */
#include <stdint.h>
#include <sys/types.h>

/* Source: https://cloud.google.com/storage/quotas#objects (read 2026-11-25) */
#define GCS_OBJECT_BYTES_MAX ((int64_t)5 << 40)

struct gcs_node;
struct gcs_nodes;

/* Identifies a thread's container by its mount namespace; 0: unknown, because this process may not read it. */
uint64_t gcs_node_of(pid_t caller);

/* Makes an empty list of nodes. @state_fd: a directory on the file system that holds the changed files, borrowed. */
struct gcs_nodes *gcs_nodes_new(int state_fd);
void gcs_nodes_free(struct gcs_nodes *nodes);

/* How many files and directories all containers together may have open, if there are enough descriptors: a file takes
 * two, a directory up to 50 KiB. */
enum { GCS_OPEN_MAX = 16384 };

/* Counts a file or a directory that a container opens. -ENFILE: the container has as many open as all containers
 * together may still open. */
int gcs_node_open(struct gcs_nodes *nodes, uint64_t id, struct gcs_node **ret_node);
/* NULL is harmless. */
void gcs_node_close(struct gcs_nodes *nodes, struct gcs_node *node);

/* Returns the container's node for a file that it changes; release with gcs_node_leave(). */
struct gcs_node *gcs_node_join(struct gcs_nodes *nodes, uint64_t id);
/* Releases @reserved_bytes. */
void gcs_node_leave(struct gcs_nodes *nodes, struct gcs_node *node, int64_t reserved_bytes);

/* Whether a changed file, for which *reserved_bytes are reserved, may grow to @size_bytes. All files of a container with
 * changes to store together may be as big as the free space, including holes. 0; -EFBIG:
 * no object can be that big; -ENOSPC. */
int gcs_node_reserve(struct gcs_nodes *nodes, struct gcs_node *node, int64_t *reserved_bytes,
		     int64_t size_bytes);

/* Releases a file's reserved bytes, because its changes are stored; its next change reserves again. */
void gcs_node_release(struct gcs_nodes *nodes, struct gcs_node *node, int64_t *reserved_bytes);

/* Returns the time until which files of killed programs are stored while the programs wait: one second, shared by
 * all files of all programs of a container that are killed within ten seconds. */
int64_t gcs_node_killed_until_us(struct gcs_nodes *nodes, struct gcs_node *node);
