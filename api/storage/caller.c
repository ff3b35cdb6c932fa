/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/caller.c: the caller of a request, and the address that it used. */
#include <string.h>
#include <strings.h>

#include "api/storage/parts.h"
#include "api/storage/plain.h"
#include "api/storage/storage.h"
#include "daemon/base/clock.h"
#include "store/keys/access_token.h"

enum { NS_PER_S = 1000000000 };

static const char *bearer_of(const char *authorization)
{
	static const char scheme[] = "Bearer ";

	if (strncasecmp(authorization, scheme, strlen(scheme)) != 0)
		return NULL;
	authorization += strlen(scheme);
	return authorization + strspn(authorization, " ");
}

static enum status refuse(struct error *err)
{
	error_set(err, STATUS_UNAUTHENTICATED, NULL, "Invalid Credentials");
	error_add_reason(err, "authError", "header", "Authorization");
	return STATUS_UNAUTHENTICATED;
}

/* A host of many JSON APIs, which does not serve the XML API. */
static const char json_api_only[] = "www.googleapis.com";

bool plain_is_elsewhere(const struct call *call)
{
	return strcasecmp(call->host, json_api_only) == 0 && strncmp(call->route->path, "/{bucket}", 9) == 0;
}

enum status caller_admit(const struct call *call, struct error *err)
{
	const struct storage_context *context = call->context;
	const char *bearer = bearer_of(call_header(call, "Authorization"));
	struct access_token token;
	enum status rc;

	if (plain_is_elsewhere(call))
		return error_set(err, STATUS_NOT_FOUND, NULL, "Method not found.");
	if (!bearer || !access_token_is_ours(bearer))
		return STATUS_OK;
	rc = access_token_read(context->store, bearer, clock_wall_ns(context->clock) / NS_PER_S, &token, err);
	if (rc == STATUS_UNAUTHENTICATED)
		return refuse(err);
	if (!rc && context->job &&
	    (token.job != context->job || token.attempt != atomic_load(context->attempt)))
		return refuse(err);
	return rc;
}
