/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/job_shell.h: a program beside a replica's own, for `trainyard shell`.
 *
 *   POST /_trainyard/v1/jobs/{job}:shell          runs a program; the answer is its output, until it ends
 *   POST /_trainyard/v1/shells/{session}:input    its input, as it is; ?end=true: no input follows
 *   POST /_trainyard/v1/shells/{session}:resize   ?columns=&rows=
 *
 * For every job that runs, whether or not it has enableWebAccess: the routes ask for the token as all others do.
 *
 * The answer is frames: a byte, three zero bytes, a length in four bytes, highest first, and so many bytes. The byte is 0 in
 * the first frame (the session takes input from now on), 1 for stdout and for a terminal, 2 for stderr, and 3 in the last
 * frame, which holds the exit code in decimal digits; without it the program was not seen to end. */
#include "api/http/http.h"

enum { SHELL_FRAME_HEADER_BYTES = 8 };
enum shell_frame { SHELL_FRAME_OPEN = 0, SHELL_FRAME_OUT = 1, SHELL_FRAME_ERR = 2, SHELL_FRAME_EXIT = 3 };

extern const struct message job_shell_message, job_shell_output, shell_input_query, shell_resize_query;

/* Of rows of jobs_routes. */
enum status job_shell_open(struct call *call, struct error *err);
enum status shell_input(struct call *call, struct error *err);
enum status shell_resize(struct call *call, struct error *err);
