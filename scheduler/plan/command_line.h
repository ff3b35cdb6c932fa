/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/command_line.h: what a container runs, as somebody would type it to try it out. Pure. */
#include <jansson.h>

enum { COMMAND_LINE_MAX = 4096 };

/* "docker run --entrypoint python3 my-image:1 -m trainer": @command and @args as replica_command() makes them, either may be
 * NULL. What is longer than COMMAND_LINE_MAX bytes is cut off and ends with an ellipsis. The caller frees. */
char *command_line_text(const char *image, const json_t *command, const json_t *args);
