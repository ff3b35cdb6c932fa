/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/grpc_endpoint.h: opens the gRPC server, with a certificate for "localhost" signed by the state directory's own
 * authority; clients must trust STATE/local-ca/bundle.crt. REST is served there by TLS as well, because Google serves
 * both at one host, and its libraries switch between them. */
#include "api/grpc/front.h"

struct authority;
struct config;

/* Opens the servers. @families: those of Vertex AI and Logging, for gRPC; @served: all families, for REST; each ends
 * with a NULL name. @ret_rest: close it after the front. FAILED_PRECONDITION: the build has no gRPC, or files of the
 * authority cannot be made; otherwise as front_open(). */
enum status grpc_endpoint_open(const struct config *config, struct authority *authority,
			       const struct family *families, const struct family *served,
			       const char *const *hosts, const struct call_gate *gate,
			       struct caller_rule caller, struct ledger *ledger, struct front **ret_front,
			       struct listener **ret_rest, struct error *err);
