/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/logging/rpcs.h: the calls of gRPC that are Cloud Logging's, and the requests they stand for.
 * Source: https://github.com/googleapis/googleapis/blob/master/google/logging/v2/logging.proto (read 2026-11-25) */
#include "api/grpc/rpc.h"

/* Ends with a NULL path. */
extern const struct rpc logging_rpcs[];
