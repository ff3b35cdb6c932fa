/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/logging/messages.h: the messages of Cloud Logging v2 as tables.
 * Source: https://cloud.google.com/logging/docs/reference/v2/rest (field numbers give the order) */
#include "api/message/message.h"

extern const struct message logging_entry;
extern const struct message logging_list_entries_request;
extern const struct message logging_list_entries_response;
extern const struct message logging_tail_entries_request;
extern const struct message logging_tail_entries_response;
extern const struct message logging_write_entries_request;
extern const struct message logging_write_entries_response;
extern const struct message logging_list_logs_request;
extern const struct message logging_list_logs_response;
extern const struct message logging_list_logs_call; /* the request of the gRPC method */
extern const struct message logging_delete_log_request; /* the request of the gRPC method */
extern const struct message logging_empty;
extern const struct message logging_list_descriptors_request;
extern const struct message logging_list_descriptors_response;
extern const struct enum_type logging_severity;
