/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/health.h"

#include "daemon/base/json.h"

static enum status health_get(struct call *call, struct error *err)
{
	const struct health *health = call->context;
	AUTO(json)
	json_t *answer = call->anonymous ? json_pack("{ss}", "status", "ok")
					 : json_pack("{ss ss}", "status", "ok", "version", health->version);

	if (!answer)
		return error_no_memory(err);
	if (health->details_add && !call->anonymous)
		health->details_add(health->arg, answer);
	json_write(&call->answer, answer);
	return STATUS_OK;
}

/* Open: probes of container engines and load balancers have no tokens. */
const struct route health_routes[] = {
	{ .method = "GET", .path = "/healthz", .handler = health_get, .open = true },
	{ .method = NULL },
};
