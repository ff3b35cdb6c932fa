/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/health.h"

#include "daemon/base/cleanup.h"
#include "daemon/base/json.h"

static enum status health_get(struct call *call, struct error *err)
{
	const struct health *health = call->context;
	AUTO(string) char *reason = NULL;
	AUTO(json)
	json_t *answer = call->anonymous ? json_pack("{ss}", "status", "ok")
					 : json_pack("{ss ss ss*}", "status", "ok", "version", health->version,
						     "project", health->project);

	(void)err;
	if (health->details_add && !call->anonymous)
		health->details_add(health->arg, answer, &reason);
	if (reason) {
		json_object_set_new(answer, "status", json_string("degraded"));
		json_object_set_new(answer, "reason", json_string(reason));
	}
	json_write(&call->answer, answer);
	return STATUS_OK;
}

enum { HTTP_SERVICE_UNAVAILABLE = 503 };

static enum status ready_get(struct call *call, struct error *err)
{
	const struct health *health = call->context;
	const bool ready = !health->ready || health->ready(health->arg);
	AUTO(string) char *reason = NULL;
	AUTO(json) json_t *answer = json_pack("{ss}", "status", ready ? "ready" : "unready");
	AUTO(json) json_t *details = json_object();

	(void)err;
	if (!ready) {
		call->http_status = HTTP_SERVICE_UNAVAILABLE;
		if (health->details_add)
			health->details_add(health->arg, details, &reason);
		if (!call->anonymous)
			json_object_set_new(
				answer, "reason",
				json_string(reason ? reason
						   : "The container engine has not yet said which "
						     "containers it has."));
	}
	json_write(&call->answer, answer);
	return STATUS_OK;
}

/* Open: probes of container engines and load balancers have no tokens. /healthz is always 200, because a restart of
 * the daemon would not bring an engine back. */
const struct route health_routes[] = {
	{ .method = "GET", .path = "/healthz", .handler = health_get, .open = true },
	{ .method = "GET", .path = "/readyz", .handler = ready_get, .open = true },
	{ .method = NULL },
};
