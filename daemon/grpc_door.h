/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/grpc_door.h: opens the front for clients that speak gRPC, with a certificate for "localhost" that the state
 * directory's own authority signs: STATE/local-ca/bundle.crt is what such clients are told to trust. */
#include "api/grpc/front.h"

struct authority;
struct config;

/* @families: those of Vertex AI, ends with a NULL name. FAILED_PRECONDITION: built without, or files of the authority
 * cannot be made; else as front_open(). */
enum status grpc_door_open(const struct config *config, struct authority *authority,
			   const struct family *families, const struct call_gate *gate,
			   struct caller_rule caller, struct front **ret_front, struct error *err);
