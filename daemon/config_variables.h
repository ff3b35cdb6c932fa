/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/config_variables.h: environment variables TRAINYARD_… that trainyard does not know. */

/* Calls @tell for each non-empty variable TRAINYARD_… that no option has. The hint is "" or names the most similar known
 * one: "; did you mean TRAINYARD_LISTEN?". */
void config_unknown_variables(void (*tell)(const char *name, const char *hint));
