/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/message/discovery_schema.h: messages as the schemas and the parameters of a discovery document.
 * Pure. Thread: any. */
#include <jansson.h>
#include <stdbool.h>

struct discovery_api;
struct message;

/* Adds the schema of @message and of all that it holds, unless they are there. */
void schema_add(json_t *schemas, const struct discovery_api *api, const struct message *message);
/* {"$ref": "GoogleCloudMlV1__Job"} */
json_t *schema_reference(const struct discovery_api *api, const struct message *message);
/* Adds each field of @message that can be a query parameter; those of nested messages as "options.version", without
 * recursion. */
void parameters_add(json_t *parameters, const struct message *message);
