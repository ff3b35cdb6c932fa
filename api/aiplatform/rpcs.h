/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/rpcs.h: the calls of gRPC that are Vertex AI's, and the requests they stand for.
 * Source: https://github.com/googleapis/googleapis/tree/master/google/cloud/aiplatform/v1: {job,pipeline,model}_service.proto;
 *         google/longrunning/operations.proto, google/cloud/location/locations.proto */
#include "api/grpc/rpc.h"

/* Tables; ends with NULL. */
extern const struct rpc *const aiplatform_rpcs[];
/* What an operation's Any may hold; ends with NULL. */
extern const struct message *const aiplatform_any[];
