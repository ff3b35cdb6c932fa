/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/device_claims.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"

struct device_claim {
	char *device;
	enum claim state;
	bool wanted; /* a job of the last walk of the queue needs it */
	bool leased;
	bool logged; /* it was logged that the device is leased but refused */
};

struct device_claims {
	struct device_claim *items;
	size_t count;
	unsigned number; /* number of the last order, or of the next one if @changed */
	bool changed;
	char *failure; /* why the last order failed; the next device_claims_retry() makes a new order */
};

struct device_claims *device_claims_new(void)
{
	return memory_calloc(1, sizeof(struct device_claims));
}

void device_claims_free(struct device_claims *claims)
{
	for (size_t i = 0; claims && i < claims->count; i++)
		free(claims->items[i].device);
	if (claims) {
		free(claims->items);
		free(claims->failure);
	}
	free(claims);
}

/* Notes that the claims must be ordered anew. The number grows at once, so that an answer to an
 * earlier order is recognized. */
static void change(struct device_claims *claims)
{
	claims->number += !claims->changed;
	claims->changed = true;
}

static struct device_claim *find(const struct device_claims *claims, const char *device)
{
	for (size_t i = 0; i < claims->count; i++)
		if (strcmp(claims->items[i].device, device) == 0)
			return &claims->items[i];
	return NULL;
}

static struct device_claim *find_or_add(struct device_claims *claims, const char *device)
{
	struct device_claim *claim = find(claims, device);

	if (claim)
		return claim;
	claims->items = memory_resize(claims->items, claims->count + 1, sizeof(*claims->items));
	claim = &claims->items[claims->count++];
	*claim = (struct device_claim){ .device = memory_strdup(device), .state = CLAIM_ASKED };
	change(claims);
	return claim;
}

void device_claims_begin_walk(struct device_claims *claims)
{
	for (size_t i = 0; i < claims->count; i++)
		claims->items[i].wanted = false;
}

enum claim device_claims_take(struct device_claims *claims, const char *device)
{
	struct device_claim *claim = find_or_add(claims, device);

	claim->wanted = true;
	return claim->state == CLAIM_ASKED && claims->failure ? CLAIM_FAILED : claim->state;
}

void device_claims_keep(struct device_claims *claims, const struct lease *leases, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < claims->count; i++)
		claims->items[i].leased = false;
	for (size_t i = 0; i < count; i++)
		if (!leases[i].shared)
			find_or_add(claims, leases[i].device)->leased = true;
	for (size_t i = 0; i < claims->count; i++) {
		struct device_claim *claim = &claims->items[i];

		if (claim->leased || claim->wanted) {
			claims->items[kept++] = *claim;
			continue;
		}
		if (claim->state != CLAIM_REFUSED)
			change(claims);
		free(claim->device);
	}
	claims->count = kept;
}

bool device_claims_have(const struct device_claims *claims, const char *device)
{
	const struct device_claim *claim = find(claims, device);

	return claim && claim->state == CLAIM_OURS;
}

bool device_claims_are_short(const struct device_claims *claims)
{
	for (size_t i = 0; i < claims->count; i++)
		if (claims->items[i].leased && claims->items[i].state == CLAIM_REFUSED)
			return true;
	return false;
}

const char *device_claims_failure(const struct device_claims *claims)
{
	return claims->failure;
}

static void failure_set(struct device_claims *claims, const char *text)
{
	free(claims->failure);
	claims->failure = text ? memory_strdup(text) : NULL;
}

void device_claims_forget(struct device_claims *claims)
{
	failure_set(claims, NULL);
	for (size_t i = 0; i < claims->count; i++)
		claims->items[i].state = CLAIM_ASKED;
	change(claims); /* even without any claim: the engine may still have those of an earlier daemon */
}

void device_claims_retry(struct device_claims *claims)
{
	if (claims->failure)
		change(claims);
	for (size_t i = 0; i < claims->count; i++) {
		if (claims->items[i].state == CLAIM_OURS)
			continue;
		claims->items[i].state = CLAIM_ASKED;
		change(claims);
	}
}

json_t *device_claims_order(struct device_claims *claims, unsigned *ret_number)
{
	json_t *devices = claims->changed ? json_array() : NULL;

	for (size_t i = 0; devices && i < claims->count; i++)
		if (claims->items[i].state != CLAIM_REFUSED)
			json_array_append_new(devices, json_string(claims->items[i].device));
	claims->changed = false;
	*ret_number = claims->number;
	return devices;
}

static bool array_has(const json_t *array, const char *text)
{
	const json_t *item;
	size_t i;

	json_array_foreach(array, i, item)
		if (strcmp(json_string_value(item), text) == 0)
			return true;
	return false;
}

bool device_claims_fail(struct device_claims *claims, unsigned number, const char *text)
{
	const bool is_new = !claims->failure || strcmp(claims->failure, text) != 0;

	if (number != claims->number || claims->changed)
		return false;
	if (is_new)
		failure_set(claims, text);
	for (size_t i = 0; i < claims->count; i++)
		if (claims->items[i].state == CLAIM_OURS)
			claims->items[i].state = CLAIM_ASKED;
	return is_new;
}

bool device_claims_answer(struct device_claims *claims, unsigned number, const json_t *refused, bool *ret_leased)
{
	const bool is_partial = json_array_size(refused) > 0;

	*ret_leased = false;
	if (number != claims->number || claims->changed)
		return false;
	failure_set(claims, NULL);
	for (size_t i = 0; i < claims->count; i++) {
		struct device_claim *claim = &claims->items[i];

		if (claim->state == CLAIM_REFUSED)
			continue;
		if (array_has(refused, claim->device))
			claim->state = CLAIM_REFUSED;
		else if (claim->state == CLAIM_ASKED && is_partial)
			change(claims); /* it was withdrawn, because other GPUs of the order were refused */
		else
			claim->state = CLAIM_OURS;
		*ret_leased = *ret_leased || (claim->state == CLAIM_REFUSED && claim->leased && !claim->logged);
		claim->logged = claim->leased && claim->state != CLAIM_OURS && (claim->logged || claim->state == CLAIM_REFUSED);
	}
	return true;
}
