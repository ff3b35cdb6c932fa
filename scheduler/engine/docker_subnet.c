/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_subnet.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"

enum { BITS_SMALLEST = 26 };

static uint32_t mask_of(unsigned bits)
{
	return bits == 0 ? 0 : ~UINT32_C(0) << (32 - bits);
}

static uint32_t last_of(struct subnet subnet)
{
	return subnet.address | ~mask_of(subnet.bits);
}

void subnet_list_deinit(struct subnet_list *list)
{
	free(list->items);
	*list = (struct subnet_list){ 0 };
}

void subnet_list_add(struct subnet_list *list, struct subnet subnet)
{
	if (list->count == list->size) {
		size_t size = list->size ? list->size * 2 : 16;
		struct subnet *grown = memory_realloc(list->items, size * sizeof(*grown));

		list->items = grown;
		list->size = size;
	}
	list->items[list->count++] = subnet;
}

bool subnet_parse_address(const char *text, uint32_t *ret_address)
{
	struct in_addr address;

	if (inet_pton(AF_INET, text, &address) != 1)
		return false;
	*ret_address = ntohl(address.s_addr);
	return true;
}

bool subnet_parse(const char *text, struct subnet *ret_subnet)
{
	char host[16];
	unsigned bits;
	int end = 0;
	uint32_t address;

	if (sscanf(text, "%15[0-9.]/%2u%n", host, &bits, &end) != 2 || text[end] || bits > 32)
		return false;
	if (!subnet_parse_address(host, &address))
		return false;
	*ret_subnet = (struct subnet){ address & mask_of(bits), bits };
	return true;
}

void subnet_print_address(uint32_t address, char text[SUBNET_TEXT_SIZE])
{
	snprintf(text, SUBNET_TEXT_SIZE, "%u.%u.%u.%u", address >> 24, address >> 16 & 255,
		 address >> 8 & 255, address & 255);
}

void subnet_print(struct subnet subnet, char text[SUBNET_TEXT_SIZE])
{
	char host[SUBNET_TEXT_SIZE];

	subnet_print_address(subnet.address, host);
	snprintf(text, SUBNET_TEXT_SIZE, "%.15s/%u", host, subnet.bits & 63);
}

bool subnet_overlaps(struct subnet a, struct subnet b)
{
	return a.address <= last_of(b) && b.address <= last_of(a);
}

unsigned subnet_capacity(struct subnet subnet, uint32_t gateway)
{
	uint32_t last = last_of(subnet);

	return gateway >= subnet.address && gateway < last ? last - gateway - 1 : 0;
}

struct subnet subnet_half(struct subnet subnet, bool upper)
{
	struct subnet half = { subnet.address, subnet.bits + 1 };

	if (upper)
		half.address += UINT32_C(1) << (31 - subnet.bits);
	return half;
}

unsigned subnet_bits_for(unsigned address_count)
{
	for (unsigned bits = BITS_SMALLEST; bits > 0; bits--)
		if (address_count <= (UINT64_C(1) << (32 - bits)) - 3)
			return bits;
	return 0;
}

static const struct subnet *taken_find(const struct subnet_list *taken, struct subnet candidate)
{
	for (size_t i = 0; i < taken->count; i++)
		if (subnet_overlaps(taken->items[i], candidate))
			return &taken->items[i];
	return NULL;
}

bool subnet_choose(struct subnet pool, unsigned bits, const struct subnet_list *taken,
		   struct subnet *ret_subnet)
{
	uint64_t step = UINT64_C(1) << (32 - bits);
	uint64_t at = pool.address;

	if (bits < pool.bits || bits > 32)
		return false;
	while (at + step - 1 <= last_of(pool)) {
		struct subnet candidate = { (uint32_t)at, bits };
		const struct subnet *obstacle = taken_find(taken, candidate);

		if (!obstacle) {
			*ret_subnet = candidate;
			return true;
		}
		/* The block and the obstacle both begin at multiples of their sizes: the search goes on after the
		 * larger of the two. */
		at = (uint64_t)last_of(*obstacle) + 1 > at + step ? (uint64_t)last_of(*obstacle) + 1
								  : at + step;
	}
	return false;
}

/* Parses a line of /proc/net/route: Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT.
 * Addresses are words in the order of memory (network byte order), in hexadecimal. Source: Linux,
 * net/ipv4/fib_trie.c, fib_route_seq_show() */
static bool route_parse(const char *line, struct subnet *ret_subnet)
{
	unsigned destination, mask;
	unsigned bits = 0;

	if (sscanf(line, "%*s %x %*x %*x %*d %*d %*d %x", &destination, &mask) != 2)
		return false;
	mask = ntohl(mask);
	while (bits < 32 && mask & UINT32_C(1) << (31 - bits))
		bits++;
	*ret_subnet = (struct subnet){ ntohl(destination) & mask_of(bits), bits };
	return bits > 0;
}

void subnet_parse_routes(const char *text, struct subnet_list *list)
{
	struct subnet subnet;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		while (*line == '\n')
			line++;
		if (route_parse(line, &subnet))
			subnet_list_add(list, subnet);
	}
}
