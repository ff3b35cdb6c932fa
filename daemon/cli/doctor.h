/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/doctor.h: `trainyard doctor`: checks whether this machine has what jobs need, and advises what to do.
 *
 * A check is one row of a table; it queries the engine, the kernel or the environment, and changes nothing. */
struct invocation;

int doctor_main(struct invocation *invocation);
