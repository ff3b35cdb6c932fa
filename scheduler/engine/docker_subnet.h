/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_subnet.h: chooses the address block of a job's network. Pure: takes values, returns values.
 * Addresses are in host byte order. Thread: any. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct subnet {
	uint32_t address;
	unsigned bits; /* of the prefix, 0..32 */
};

/* Blocks that are in use. */
struct subnet_list {
	struct subnet *items;
	size_t count, size;
};

#define AUTO_SUBNET_LIST __attribute__((cleanup(subnet_list_deinit)))

void subnet_list_deinit(struct subnet_list *list);
void subnet_list_add(struct subnet_list *list, struct subnet subnet);

/* Parses a block such as "10.213.0.0/16"; bits of the host part are cleared. False: it is not a block. */
bool subnet_parse(const char *text, struct subnet *ret_subnet);
/* "10.213.0.1". */
bool subnet_parse_address(const char *text, uint32_t *ret_address);
enum { SUBNET_TEXT_SIZE = 20 };
void subnet_print(struct subnet subnet, char text[SUBNET_TEXT_SIZE]);
void subnet_print_address(uint32_t address, char text[SUBNET_TEXT_SIZE]);

bool subnet_overlaps(struct subnet a, struct subnet b);
/* How many addresses follow @gateway and precede the block's last (the broadcast address). */
unsigned subnet_capacity(struct subnet subnet, uint32_t gateway);
/* The prefix length of the smallest block, at least a /26, that holds @address_count replicas beside the network
 * address, the gateway and the broadcast address; 0: none does. */
unsigned subnet_bits_for(unsigned address_count);

/* The lower or the upper half of a block with at least two addresses. */
struct subnet subnet_half(struct subnet subnet, bool upper);

/* Returns the lowest free block with prefix length @bits in @pool: it overlaps none of @taken. Choice: the lowest,
 * so that networks are easy to read in listings. False: there is none. */
bool subnet_choose(struct subnet pool, unsigned bits, const struct subnet_list *taken,
		   struct subnet *ret_subnet);

/* Adds the destinations in a text of the form of /proc/net/route, except the default route. Other lines are skipped. */
void subnet_parse_routes(const char *text, struct subnet_list *list);
