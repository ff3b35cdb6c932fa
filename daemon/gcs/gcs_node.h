/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_node.h: a container that has something open, which stands for a node of the cloud, and what it may take
 * of what all share: descriptors and memory, the disk, and time after its programs were killed. Thread: any. */
#include <stdint.h>
#include <sys/types.h>

/* Source: https://cloud.google.com/storage/quotas#objects (read 2026-11-25) */
#define GCS_OBJECT_BYTES_MAX ((int64_t)5 << 40)

struct gcs_node;
struct gcs_nodes;

/* What a thread's container is told by, its mounts; 0: they may not be looked at. */
uint64_t gcs_node_of(pid_t caller);

/* @state_fd: of the file system that changes are kept in, borrowed. */
struct gcs_nodes *gcs_nodes_new(int state_fd);
void gcs_nodes_free(struct gcs_nodes *nodes);

/* How many files and directories all containers together may have open, if there are as many descriptors: a file takes
 * two, a directory up to 50 KiB. */
enum { GCS_OPEN_MAX = 16384 };

/* Of a file or a directory that a container opens. -ENFILE: it has as many open as all others may still open. */
int gcs_node_open(struct gcs_nodes *nodes, uint64_t id, struct gcs_node **ret_node);
/* NULL is harmless. */
void gcs_node_close(struct gcs_nodes *nodes, struct gcs_node *node);

/* Of a changed file. */
struct gcs_node *gcs_node_join(struct gcs_nodes *nodes, uint64_t id);
/* Gives back @reserved_bytes. */
void gcs_node_leave(struct gcs_nodes *nodes, struct gcs_node *node, int64_t reserved_bytes);

/* Whether a changed file, for which *reserved_bytes are reserved, may be as big as @size_bytes. All changed files of a
 * container together may be as big as what is free, holes and all, so that what is written can be stored as well.
 * 0; -EFBIG: no object is that big; -ENOSPC. */
int gcs_node_reserve(struct gcs_nodes *nodes, struct gcs_node *node, int64_t *reserved_bytes,
		     int64_t size_bytes);

/* Until when what killed programs leave open is stored while they wait for it: a second, for all files of all programs
 * of a container that are killed within ten. */
int64_t gcs_node_killed_until_us(struct gcs_nodes *nodes, struct gcs_node *node);
