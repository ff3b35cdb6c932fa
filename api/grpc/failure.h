/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/grpc/failure.h: converts Google's error body to the outcome of a call, with all details. Pure. Thread: any.
 * Source: https://github.com/googleapis/googleapis/blob/master/google/rpc/{code,status,error_details}.proto */
#include <jansson.h>

#include "api/grpc/rpc.h"

/* Sets the outcome from the error of an answer. @error: the body's member "error"; NULL if the body has none. */
void failure_read(unsigned http_status, const json_t *error, struct rpc_outcome *outcome);
