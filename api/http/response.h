/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/response.h: an exchange's answer as libmicrohttpd sends it. Thread: the connection's. */
#include <microhttpd.h>
#include <stdbool.h>

struct exchange;

/* Queues the answer and takes its text. @last: the connection is closed behind it. HEAD is a GET that libmicrohttpd sends
 * without its body. */
enum MHD_Result response_queue(struct MHD_Connection *connection, struct exchange *exchange, bool last);
