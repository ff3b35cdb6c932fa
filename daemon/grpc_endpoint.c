/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/grpc_endpoint.h"

#include "api/aiplatform/aiplatform.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/config.h"
#include "daemon/config_listen.h"
#include "store/keys/authority.h"

/* The same limits as those of the listener without TLS. */
enum { HEAD_LIMIT_MS = 30000, ADDRESS_LIMIT = 128 };

enum status grpc_endpoint_open(const struct config *config, struct authority *authority,
			       const struct family *families, const struct family *served,
			       const char *const *hosts, const struct call_gate *gate,
			       struct caller_rule caller, struct ledger *ledger, struct front **ret_front,
			       struct listener **ret_rest, struct error *err)
{
	/* The names by which clients of this machine call the server. */
	static const char *const names[] = { "localhost", "127.0.0.1", "::1" };
	const int64_t now_s = clock_wall_us(&system_clock) / 1000000;
	struct listener_options options;
	struct listener *rest = NULL;
	struct text key AUTO_TEXT = { 0 }, certificate AUTO_TEXT = { 0 }, bundle AUTO_TEXT = { 0 };
	char address[LISTEN_ADDRESS_SIZE];
	uint16_t port;
	enum status rc = authority_issue(authority, names, sizeof(names) / sizeof(names[0]), now_s, &key,
					 &certificate, err);

	if (!rc)
		rc = authority_bundle(authority, authority_system_bundle(), now_s, &bundle, err);
	if (rc)
		return rc;
	config_listen_split(config->grpc, address, &port); /* checked when it was read */
	options = (struct listener_options){
		.address = address,
		.families = served,
		.clock = &system_clock,
		.gate = gate,
		.hosts = hosts,
		.refused_network = config->networks,
		.caller = caller,
		.ledger = ledger,
		.head_limit_ms = HEAD_LIMIT_MS,
		.address_limit = ADDRESS_LIMIT,
		.tls_key = key.data,
		.tls_certificate = certificate.data,
	};
	rc = listener_open(&options, &rest, err);
	if (rc)
		return rc;
	options.port = port;
	options.families = families;
	rc = front_open(&(struct front_options){ .common = options, .any = aiplatform_any, .rest = rest }, ret_front,
			err);
	if (rc) {
		listener_close(rest, 0);
		return rc;
	}
	*ret_rest = rest;
	log_event(LOG_INFO, "grpc-listening", "address=%s port=%u trust=\"%s\"", address,
		  front_port(*ret_front), bundle.data);
	return STATUS_OK;
}
