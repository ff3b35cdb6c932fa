/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/packing.h: puts all replicas of a job into the free room of nodes, on as few nodes as possible.
 *
 * Pure and deterministic: equal values give an equal result. Thread: any. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The dimensions of a size: CPU in thousandths, memory in MiB, devices, containers. */
enum { PACK_CPU, PACK_MEMORY, PACK_DEVICES, PACK_CONTAINERS, PACK_DIMENSIONS };
/* The maximum number of shapes: a job has four pools. */
enum { PACK_SHAPES = 4 };

/* One node. */
struct pack_bin {
	int64_t room[PACK_DIMENSIONS]; /* of the whole node */
	int64_t free[PACK_DIMENSIONS]; /* less than zero: more is in use than there is */
	/* A bit for each shape that may go there. A shape that takes some of a soft dimension may only go where there
	 * is some. */
	unsigned shapes;
	unsigned load; /* among equal nodes the one with the lowest load is used */
};

/* Replicas of equal size. */
struct pack_shape {
	unsigned count;
	int64_t size[PACK_DIMENSIONS];
};

struct packing {
	const struct pack_bin *bins;
	size_t bin_count;
	struct pack_shape shapes[PACK_SHAPES];
	unsigned clamped; /* a bit for each dimension in which a replica takes a whole node at most */
	unsigned
		/* the clamped dimensions in which nodes get more than they have if the job fits no other way */
		soft;
	bool whole; /* all replicas go to one node */
};

enum pack_outcome {
	PACK_FITS,
	PACK_OVERCOMMITS, /* the job fits only if some nodes get more than they have, in a soft dimension */
	PACK_NONE,        /* it does not fit */
	PACK_UNDECIDED,   /* no arrangement was found in a bounded search; there may be one */
};

/* How much of @dimension a replica of the shape takes of the node. */
int64_t pack_size(const struct packing *packing, const struct pack_bin *bin, unsigned shape, int dimension);

/* Puts each replica of each shape on one node, or none at all. The nodes are chosen greedily; for up to PACK_SEARCHED
 * replicas, a search of at most PACK_STEPS steps then looks for fewer nodes. Nodes that the job fills up are preferred,
 * so that large room stays in one piece. An overcommitted job is spread instead: each replica goes to the node where
 * the largest share in use is then the lowest; with @packing->whole, all replicas go to one such node.
 * @ret_bins  the index of a bin for each replica: first those of shape 0, then those of shape 1, and so on. Set for the
 *            first two outcomes */
enum pack_outcome pack(const struct packing *packing, unsigned *ret_bins);
enum { PACK_SEARCHED = 64, PACK_STEPS = 20000 };
