/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/ui.h: `trainyard ui`, which opens the console in a browser. */
struct invocation;

int ui_main(struct invocation *invocation);
