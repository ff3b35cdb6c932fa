/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/pool_field.h"

#include <string.h>

#include "api/ml/cluster.h"
#include "daemon/base/json.h"

json_t *ml_pool_field(const json_t *input, enum role role, const char *member)
{
	const char *config = ml_roles[role].config;

	if (strncmp(member, "accelerator", strlen("accelerator")) == 0 &&
	    json_object_get(json_object_get(input, config), "acceleratorConfig"))
		return json_sprintf("trainingInput.%s.acceleratorConfig", config);
	if (input_tier(input) != TIER_CUSTOM)
		return json_string("trainingInput.scaleTier");
	return json_sprintf("trainingInput.%s", ml_roles[role].type);
}
