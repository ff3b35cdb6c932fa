/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/host_header.h: which host an HTTP/1 client calls, from the first bytes that it sends: client_hello.h for connections
 * without TLS. Pure; the bytes are hostile. Source: https://www.rfc-editor.org/rfc/rfc9112 (2.2, 3.2). */
#include "daemon/base/client_hello.h"

/* Reads up to the first Host header. The name is without port and final dot. @ret_hello is set with NAMED and UNNAMED;
 * http2_only is false. UNNAMED: the head ends without the header, the header holds no name, or this is no HTTP/1. */
enum hello host_header_read(const uint8_t *data, size_t length, struct client_hello *ret_hello);
