/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/grpc/failure.h: Google's error body as the outcome of a call, details and all. Pure. Thread: any.
 * Source: https://github.com/googleapis/googleapis/blob/master/google/rpc/{code,status,error_details}.proto */
#include <jansson.h>

#include "api/grpc/rpc.h"

/* @error: the member of that name, or NULL where the body had none. */
void failure_read(unsigned http_status, const json_t *error, struct rpc_outcome *outcome);
