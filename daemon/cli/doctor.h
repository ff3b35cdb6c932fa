/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/doctor.h: `trainyard doctor`: whether this machine has what jobs need, and what to do where it has not.
 *
 * A check is one row of a table; it asks the engine, the kernel or the environment, and changes nothing. */
struct invocation;

int doctor_main(struct invocation *invocation);
