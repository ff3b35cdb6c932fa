/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_node.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "daemon/base/clock.h"
#include "daemon/base/memory.h"

enum { US_PER_S = 1000000, KILLED_US = US_PER_S, KILLED_AGAIN_US = 10 * US_PER_S, RESERVED_AHEAD = 16 << 20 };

struct gcs_node {
	struct gcs_node *next;
	uint64_t id;
	unsigned references, open_count;
	int64_t reserved_bytes;
	int64_t killed_us; /* when a killed program first had changes to store; renewed after KILLED_AGAIN_US */
};

struct gcs_nodes {
	pthread_mutex_t lock; /* guards the list and all nodes in it */
	struct gcs_node *first;
	unsigned open_count, open_max;
	int state_fd;
};

uint64_t gcs_node_of(pid_t caller)
{
	struct stat info;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", caller);
	return stat(path, &info) == 0 ? info.st_ino : 0;
}

struct gcs_nodes *gcs_nodes_new(int state_fd)
{
	struct gcs_nodes *nodes = memory_calloc(1, sizeof(*nodes));
	struct rlimit descriptors;

	nodes->state_fd = state_fd;
	nodes->open_max = GCS_OPEN_MAX;
	if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0 && descriptors.rlim_cur / 4 < nodes->open_max)
		nodes->open_max = (unsigned)descriptors.rlim_cur / 4; /* two for each file, and half for everything else */
	pthread_mutex_init(&nodes->lock, NULL);
	return nodes;
}

void gcs_nodes_free(struct gcs_nodes *nodes)
{
	if (!nodes)
		return;
	pthread_mutex_destroy(&nodes->lock);
	free(nodes);
}

/* ---- call with the lock held ---- */

static struct gcs_node *node_hold(struct gcs_nodes *nodes, uint64_t id)
{
	struct gcs_node *node = nodes->first;

	while (node && node->id != id)
		node = node->next;
	if (!node) {
		node = memory_calloc(1, sizeof(*node));
		*node = (struct gcs_node){ .next = nodes->first, .id = id };
		nodes->first = node;
	}
	node->references++;
	return node;
}

static void node_drop(struct gcs_nodes *nodes, struct gcs_node *node)
{
	struct gcs_node **at = &nodes->first;

	if (--node->references > 0)
		return;
	while (*at != node)
		at = &(*at)->next;
	*at = node->next;
	free(node);
}

/* ---- call without the lock ---- */

int gcs_node_open(struct gcs_nodes *nodes, uint64_t id, struct gcs_node **ret_node)
{
	struct gcs_node *node;
	int problem = 0;

	pthread_mutex_lock(&nodes->lock);
	node = node_hold(nodes, id);
	if (node->open_count >= nodes->open_max - nodes->open_count) {
		node_drop(nodes, node);
		problem = -ENFILE;
	} else {
		node->open_count++;
		nodes->open_count++;
		*ret_node = node;
	}
	pthread_mutex_unlock(&nodes->lock);
	return problem;
}

void gcs_node_close(struct gcs_nodes *nodes, struct gcs_node *node)
{
	if (!node)
		return;
	pthread_mutex_lock(&nodes->lock);
	node->open_count--;
	nodes->open_count--;
	node_drop(nodes, node);
	pthread_mutex_unlock(&nodes->lock);
}

struct gcs_node *gcs_node_join(struct gcs_nodes *nodes, uint64_t id)
{
	struct gcs_node *node;

	pthread_mutex_lock(&nodes->lock);
	node = node_hold(nodes, id);
	pthread_mutex_unlock(&nodes->lock);
	return node;
}

void gcs_node_leave(struct gcs_nodes *nodes, struct gcs_node *node, int64_t reserved_bytes)
{
	pthread_mutex_lock(&nodes->lock);
	node->reserved_bytes -= reserved_bytes;
	node_drop(nodes, node);
	pthread_mutex_unlock(&nodes->lock);
}

static int64_t free_bytes(const struct gcs_nodes *nodes)
{
	struct statvfs facts;

	return fstatvfs(nodes->state_fd, &facts) == 0 ? (int64_t)(facts.f_bavail * facts.f_frsize) : 0;
}

int gcs_node_reserve(struct gcs_nodes *nodes, struct gcs_node *node, int64_t *reserved_bytes,
		     int64_t size_bytes)
{
	const int64_t ahead = size_bytes < RESERVED_AHEAD ? size_bytes : RESERVED_AHEAD;
	int64_t room, wanted;

	if (size_bytes > GCS_OBJECT_BYTES_MAX)
		return -EFBIG;
	if (size_bytes <= *reserved_bytes)
		return 0;
	pthread_mutex_lock(&nodes->lock);
	room = free_bytes(nodes) - (node->reserved_bytes - *reserved_bytes);
	/* reserve more if possible, so that not each write reserves */
	wanted = size_bytes + ahead <= room ? size_bytes + ahead : size_bytes;
	if (wanted <= room) {
		node->reserved_bytes += wanted - *reserved_bytes;
		*reserved_bytes = wanted;
	}
	pthread_mutex_unlock(&nodes->lock);
	return wanted <= room ? 0 : -ENOSPC;
}

void gcs_node_release(struct gcs_nodes *nodes, struct gcs_node *node, int64_t *reserved_bytes)
{
	pthread_mutex_lock(&nodes->lock);
	node->reserved_bytes -= *reserved_bytes;
	*reserved_bytes = 0;
	pthread_mutex_unlock(&nodes->lock);
}

int64_t gcs_node_killed_until_us(struct gcs_nodes *nodes, struct gcs_node *node)
{
	const int64_t now_us = clock_mono_us(&system_clock);
	int64_t begun_us;

	pthread_mutex_lock(&nodes->lock);
	if (!node->killed_us || now_us - node->killed_us > KILLED_AGAIN_US)
		node->killed_us = now_us;
	begun_us = node->killed_us;
	pthread_mutex_unlock(&nodes->lock);
	return begun_us + KILLED_US;
}
