/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/logging/entry_tail.h: google.logging.v2.LoggingServiceV2.TailLogEntries: new entries as they are stored.
 *
 * A session gives at most 60,000 entries a minute, reports how many it left out, and ends after an hour. If a client reads
 * nothing for ten seconds, older entries are left out, too. A session keeps no entries while its client is slow.
 * Source: https://cloud.google.com/logging/docs/reference/v2/rpc/google.logging.v2#taillogentriesrequest,
 *         https://cloud.google.com/logging/quotas (read 2026-11-26) */
#include "api/grpc/rpc.h"

/* A session over gRPC; the context is a struct logging_context. */
extern const struct rpc_feed entry_tail_feed;
