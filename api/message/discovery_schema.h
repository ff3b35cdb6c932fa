/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/message/discovery_schema.h: converts messages to the schemas and the parameters of a discovery document. Pure.
 * Thread: any. */
#include <jansson.h>
#include <stdbool.h>

struct discovery_api;
struct message;

/* Adds the schemas of @message and of all messages in it, unless @schemas has them already. */
void schema_add(json_t *schemas, const struct discovery_api *api, const struct message *message);
/* {"$ref": "GoogleCloudMlV1__Job"} */
json_t *schema_reference(const struct discovery_api *api, const struct message *message);
/* Adds each field of @message that can be a query parameter; a field of a nested message is named "options.version".
 * @message must not contain itself. */
void parameters_add(json_t *parameters, const struct message *message);
