/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/requests.h: `trainyard requests`: prints the last requests of clients. Thread: the first. */
struct invocation;

int requests_main(struct invocation *invocation);
