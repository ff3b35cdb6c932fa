/* SPDX-License-Identifier: Apache-2.0 */
/* The target of a request, as anybody may send it: taken apart, routed, refused in words. And its headers that tell
 * where it comes from. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/guard.h"
#include "api/http/router.h"
#include "daemon/base/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROW(method_, path_)                                                                                  \
	{                                                                                                    \
		.method = method_, .path = path_                                                             \
	}

static const struct route routes[] = {
	ROW("POST", "/v1/projects/{project}/jobs"),
	ROW("GET", "/v1/projects/{project}/jobs/{job}"),
	ROW("POST", "/v1/projects/{project}/jobs/{job}:cancel"),
	ROW("GET", "/v1/projects/{project}:getConfig"),
	ROW("POST", "/v2/entries:list"),
	ROW("GET", "/$discovery/rest"),
	ROW(NULL, NULL),
};
static const struct route absent[] = {
	ROW("GET", "/v1/projects/{project}/models/{model}"),
	ROW("POST", "/v1/projects/{project}/models/{model}:predict"),
	ROW(NULL, NULL),
};
static const struct route plain[] = {
	ROW("GET", "/download/{bucket}/{object=**}"),
	ROW("PUT", "/{bucket}/{object=**}"),
	ROW(NULL, NULL),
};
static const struct family families[] = {
	{ .name = "plain", .routes = plain, .last_resort = true },
	{ .name = "fuzz", .routes = routes, .absent = absent },
	{ .name = NULL },
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void target_route(const struct target *target)
{
	static const char *const methods[] = { "GET", "HEAD", "POST", "DELETE" };

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		struct error err AUTO_ERROR = { 0 };
		enum refusal refusal = REFUSAL_BY_STATUS;
		struct match match = router_match(families, methods[i], target);
		enum status rc = match_refuse(&match, methods[i], target, &refusal, &err);

		require((rc == STATUS_OK) == (match.kind == MATCH_ROUTE));
		require((match.kind == MATCH_METHODS) ==
			(match.allow[0] && match.kind != MATCH_ABSENT && rc));
		for (size_t j = 0; j < match.param_count; j++)
			require(*match.params[j].value != '\0');
	}
}

/* Fails with: guard_network_read() takes an address with bits that its mask has not. */
static void guard_try(const char *text)
{
	static const struct guard guard = { .address = "127.0.0.1" };
	const char *const headers[][3] = { { text, NULL, NULL }, { NULL, text, NULL }, { NULL, NULL, text } };
	struct guard_network network;

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		struct error err AUTO_ERROR = { 0 };

		if (guard_check(&guard, headers[i][0], headers[i][1], headers[i][2], &err))
			require(err.status == STATUS_PERMISSION_DENIED && err.text);
	}
	if (guard_network_read(text, &network))
		require(network.mask && !(network.address & ~network.mask));
}

static void query_check(const char *raw)
{
	struct query query = { 0 };

	if (query_parse(raw, strlen(raw), &query, NULL))
		return;
	for (size_t i = 0; i < query.count; i++)
		require(utf8_valid(query.pairs[i].name, strlen(query.pairs[i].name)) &&
			utf8_valid(query.pairs[i].value, strlen(query.pairs[i].value)));
	query_deinit(&query);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(string) char *raw = malloc(size + 1);
	struct target target = { 0 };

	if (!raw)
		return 0;
	if (size)
		memcpy(raw, data, size);
	raw[size] = '\0';
	guard_try(raw);
	query_check(raw);
	if (target_parse(raw, &target, NULL))
		return 0;
	for (size_t i = 0; i < target.segment_count; i++)
		require(utf8_valid(target.segments[i], strlen(target.segments[i])));
	require((target.stem == NULL) == (target.verb == NULL));
	require(utf8_valid(target.path, strlen(target.path)));
	query_check(target.query);
	target_route(&target);
	target_deinit(&target);
	return 0;
}
