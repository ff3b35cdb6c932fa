/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_image.h: looks for an image, and pulls it. */

struct docker;
struct command;

void image_ensure_run(struct docker *docker, struct command *command);
/* Ends and joins the threads that find registry credentials. */
void images_close(struct docker *docker);
