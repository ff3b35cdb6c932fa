/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/host_header.h: reads from the first bytes of an HTTP/1 client which host it wants: the counterpart of
 * client_hello.h without TLS. Pure; the bytes are untrusted. Source: https://www.rfc-editor.org/rfc/rfc9112 (2.2,
 * 3.2). */
#include "daemon/base/client_hello.h"

/* Reads up to the first Host header. The name has neither port nor final dot. @ret_hello is set for NAMED and UNNAMED;
 * http2_only is false. UNNAMED: the head ends without the header, the header has no name, or this is not HTTP/1. */
enum hello host_header_read(const uint8_t *data, size_t length, struct client_hello *ret_hello);
