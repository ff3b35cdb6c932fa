/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/response.h: passes an exchange's answer to libmicrohttpd. Thread: the connection's. */
#include <microhttpd.h>
#include <stdbool.h>

struct exchange;

/* Queues the answer, and takes over its text. @last: the connection is closed after it. HEAD is handled like GET:
 * libmicrohttpd leaves out the body. */
enum MHD_Result response_queue(struct MHD_Connection *connection, struct exchange *exchange, bool last);
