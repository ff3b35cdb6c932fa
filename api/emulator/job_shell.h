/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/job_shell.h: runs a second program in a replica's container, for `trainyard shell`.
 *
 *   POST /_trainyard/v1/jobs/{job}:shell          runs a program; the answer is its output, until it ends
 *   POST /_trainyard/v1/shells/{session}:input    its input, as it is; ?end=true: no input follows
 *   POST /_trainyard/v1/shells/{session}:resize   ?columns=&rows=
 *   GET  /_trainyard/v1/shells/{session}:output   the output from byte ?offset= on, for a client that has lost its
 *                                                 connection; only of a shell with keepSeconds
 *   POST /_trainyard/v1/shells/{session}:end      ends the program
 *
 * For every running job, with or without enableWebAccess: the routes require the token, like all others.
 *
 * The answer is frames: a byte, three zero bytes, a length in four bytes, big endian, and the data. The byte is 0 in
 * the first frame (the session takes input from now on), 1 for stdout and for a terminal, 2 for stderr, and 3 in the last
 * frame, which holds the exit code in decimal digits; without it the end of the program is unknown. */
#include "api/http/http.h"

enum { SHELL_FRAME_HEADER_BYTES = 8 };
enum shell_frame { SHELL_FRAME_OPEN = 0, SHELL_FRAME_OUT = 1, SHELL_FRAME_ERR = 2, SHELL_FRAME_EXIT = 3 };

extern const struct message job_shell_message, job_shell_output, shell_input_query, shell_resize_query,
	shell_output_query;

/* Handlers of rows of jobs_routes. */
enum status job_shell_open(struct call *call, struct error *err);
enum status shell_input(struct call *call, struct error *err);
enum status shell_resize(struct call *call, struct error *err);
enum status shell_output(struct call *call, struct error *err);
enum status shell_end(struct call *call, struct error *err);
