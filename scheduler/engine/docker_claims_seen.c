/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_claims_seen.h"

#include <sodium.h>
#include <string.h>

#include "daemon/base/instance_lock.h"
#include "daemon/base/json.h"
#include "scheduler/engine/docker_core.h"
#include "scheduler/engine/docker_make.h"

json_t *claim_name(const char *instance, const char *device)
{
	unsigned char hash[crypto_generichash_BYTES_MIN];
	char hex[2 * sizeof(hash) + 1];

	crypto_generichash(hash, sizeof(hash), (const unsigned char *)device, strlen(device), NULL, 0);
	sodium_bin2hex(hex, sizeof(hex), hash, sizeof(hash));
	return json_sprintf("ty-%.32s-gpu-%s", instance, hex);
}

const char *claim_label(const json_t *object, const char *name)
{
	return json_text_at(json_object_get(object, "Labels"), name);
}

const char *claim_stranger(const json_t *object, const char *own)
{
	const char *instance = claim_label(object, "trainyard.instance");

	return instance && instance_valid(instance) && strcmp(instance, own) != 0 ? instance : NULL;
}

bool claim_is_of(const json_t *volume, const char *instance, const char *device)
{
	const char *name = json_text_at(volume, "Name"), *claimed = claim_label(volume, DOCKER_LABEL_GPUS);
	AUTO(json) json_t *own = claim_name(instance, device);

	return name && claimed && strcmp(claimed, device) == 0 && strcmp(name, json_string_value(own)) == 0;
}

bool claim_is_listed(const json_t *volumes, const char *instance, const char *device)
{
	const json_t *volume;
	size_t i;

	json_array_foreach(volumes, i, volume)
		if (claim_is_of(volume, instance, device))
			return true;
	return false;
}

/* Whether the comma-separated @ids have @id. */
static bool ids_have(const char *ids, const char *id)
{
	const size_t length = strlen(id);

	for (const char *at = ids; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (strncmp(at, id, length) == 0 && (!at[length] || at[length] == ','))
			return true;
	return false;
}

bool claim_runs_elsewhere(const json_t *containers, const char *own, const char *device)
{
	const json_t *container;
	size_t i;

	json_array_foreach(containers, i, container) {
		const char *ids = claim_label(container, DOCKER_LABEL_GPUS);

		if (claim_stranger(container, own) && docker_container_is_made_here(container) && ids &&
		    ids_have(ids, device))
			return true;
	}
	return false;
}
