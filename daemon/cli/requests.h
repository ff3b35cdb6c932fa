/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/requests.h: trainyard requests: what clients asked the daemon last. Thread: the first. */
struct invocation;

int requests_main(struct invocation *invocation);
