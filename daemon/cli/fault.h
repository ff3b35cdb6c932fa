/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/fault.h: `trainyard fault`: rules of faults that are ordered, and `trainyard clock`: a clock that is put forward. */

struct invocation;

int fault_main(struct invocation *invocation);
int clock_main(struct invocation *invocation);
