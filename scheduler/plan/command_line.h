/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/command_line.h: the command of a container as a line that can be pasted into a shell. Pure. */
#include <jansson.h>

enum { COMMAND_LINE_MAX = 4096 };

/* Returns a command line for people, such as "docker run --entrypoint python3 my-image:1 -m trainer". @command and @args
 * come from replica_command(); either may be NULL. A line longer than COMMAND_LINE_MAX bytes is cut and ends with an
 * ellipsis. The caller frees. */
char *command_line_text(const char *image, const json_t *command, const json_t *args);
