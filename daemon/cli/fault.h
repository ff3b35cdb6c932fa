/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/fault.h: `trainyard fault`: rules of fault injection, and `trainyard clock`: moves the clock forward. */

struct invocation;

int fault_main(struct invocation *invocation);
int clock_main(struct invocation *invocation);
