/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/search.h"

#include <sodium.h>
#include <string.h>

#include "daemon/base/json.h"

uint64_t search_seed(const char *project, const char *job_id)
{
	unsigned char hash[crypto_generichash_BYTES];
	crypto_generichash_state state;
	uint64_t seed = 0;

	crypto_generichash_init(&state, NULL, 0, sizeof(hash));
	crypto_generichash_update(&state, (const unsigned char *)project, strlen(project) + 1);
	crypto_generichash_update(&state, (const unsigned char *)job_id, strlen(job_id));
	crypto_generichash_final(&state, hash, sizeof(hash));
	for (size_t i = 0; i < sizeof(seed); i++)
		seed = seed << 8 | hash[i];
	return seed >> 1; /* JSON's integers have a sign */
}

unsigned failed_trials_within(int64_t given, unsigned trial_count)
{
	return given > trial_count ? trial_count + 1 : (unsigned)given;
}

static const char linear[] = "linear";

const char *search_scale(const json_t *spec)
{
	const char *type = json_text_at(spec, "scaleType");

	if (type && strcmp(type, "UNIT_LOG_SCALE") == 0)
		return "log";
	return type && strcmp(type, "UNIT_REVERSE_LOG_SCALE") == 0 ? "reverse_log" : linear;
}

bool search_scale_is_logarithmic(const json_t *spec)
{
	return search_scale(spec) != linear;
}
