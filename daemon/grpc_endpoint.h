/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/grpc_endpoint.h: opens the front for clients that speak gRPC, with a certificate for "localhost" that the state
 * directory's own authority signs: STATE/local-ca/bundle.crt is what such clients are told to trust. Clients of REST are
 * served there by TLS as well, for Google has both at one host, and its libraries change from one to the other. */
#include "api/grpc/front.h"

struct authority;
struct config;

/* @families: those of Vertex AI, @served: all of them for REST; each ends with a NULL name. FAILED_PRECONDITION: built without, or files of the authority
 * cannot be made; else as front_open().
 * @ret_rest: to be closed after the front. */
enum status grpc_endpoint_open(const struct config *config, struct authority *authority,
			       const struct family *families, const struct family *served,
			       const char *const *hosts, const struct call_gate *gate,
			       struct caller_rule caller, struct ledger *ledger, struct front **ret_front,
			       struct listener **ret_rest, struct error *err);
