/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/config_variables.h: variables TRAINYARD_… of the environment that are none of the program's. */

/* Calls @tell for each such variable that no option has and that is not empty, with "", or with the one that was most
 * likely meant: "; did you mean TRAINYARD_LISTEN?". */
void config_unknown_variables(void (*tell)(const char *name, const char *hint));
