/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_image.h: looks for an image, and pulls it, or copies it from another engine of the group.
 *
 * Choice: an image that only engines have is copied: it was built or loaded on one, has no digest of a registry, and a pull
 * could bring another image of that name. An image of a registry is pulled, and copied only if the pull fails, or is not
 * allowed (--offline). A copy gets the tag IMAGE_COPY. It is replaced when the engine that it came from has a newer image of
 * the name; an image without that tag is never replaced. */

struct docker;
struct command;

void image_ensure_run(struct docker *docker, struct command *command);
/* Ends and joins the threads that copy images or find registry credentials. */
void images_close(struct docker *docker);
