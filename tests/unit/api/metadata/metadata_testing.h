/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/api/metadata/metadata_testing.h: a store, a key and a listener with families of api/metadata. */
#include "api/metadata/account.h"
#include "api/metadata/metadata.h"
#include "daemon/base/json.h"
#include "store/keys/signing_key.h"
#include "tests/unit/api/http/http_testing.h"
#include "tests/unit/store/store_testing.h"

#define EMAIL "service-123456789012@cloud-ml.google.com.iam.gserviceaccount.com"

enum { NOW_S = START_NS / 1000000000, LOOPBACK = 0x7f000001 };

static struct bench *bench;
static struct signing_key *key;
static bool known_peer;
static struct metadata_instance instance_seen;

static inline bool instance_find(void *arg, uint32_t peer, struct metadata_instance *ret_instance)
{
	(void)arg;
	if (!known_peer || peer != LOOPBACK)
		return false;
	*ret_instance = instance_seen;
	return true;
}

static inline struct metadata_context metadata_context_of(void)
{
	return (struct metadata_context){ .store = bench->store,
					  .key = key,
					  .clock = &bench->clock,
					  .project_id = "demo-project",
					  .project_number = "123456789012",
					  .region = "us-central1",
					  .email = EMAIL,
					  .find = instance_find };
}

static inline void yard_open(const struct family *families)
{
	void *state = NULL;

	assert_int_equal(bench_open(&state), 0);
	bench = state;
	key = signing_key_new(bench->dir);
	known_peer = true;
	instance_seen = (struct metadata_instance){ .job = 7,
						    .attempt = 3,
						    .role = 1,
						    .index = 2,
						    .id = 4242,
						    .hostname = "cmle-training-worker-2",
						    .machine_type = "n1-highmem-8",
						    .created_s = NOW_S - 60 };
	assert_int_equal(listener_open(&(struct listener_options){ .address = "127.0.0.1",
								   .families = families,
								   .clock = &bench->clock },
				       &listener, &bench->err),
			 STATUS_OK);
}

static inline void yard_close(void)
{
	void *state = bench;

	listener_close(listener, 1000);
	listener = NULL;
	signing_key_free(key);
	bench_close(&state);
}

/* The body of an answer. */
static inline const char *body_of(const char *answer)
{
	const char *end = strstr(answer, "\r\n\r\n");

	return end ? end + 4 : "";
}

/* The body as JSON, which the caller frees. */
static inline json_t *json_of(const char *answer)
{
	json_t *value = json_loads(body_of(answer), JSON_DECODE_ANY, NULL);

	if (!value)
		fail_msg("no JSON: %s", answer);
	return value;
}

static inline void has(const char *answer, const char *part)
{
	if (!strstr(answer, part))
		fail_msg("no %s in\n%s", part, answer);
}
