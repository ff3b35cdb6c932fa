/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/image_build.h: builds an image with the container engine, from a directory with a Dockerfile.
 * Source: https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Image/operation/ImageBuild */
#include "daemon/base/error.h"

/* Builds an image. @engine: "unix:///PATH"; @engine_id: the id of the daemon's engine, which must be the same engine,
 * because the daemon needs the image there; NULL: not known; @tag: the image's name. Shows the current step on a
 * terminal. Respects .dockerignore.
 * Outcomes: INVALID_ARGUMENT: there is no Dockerfile, or a file cannot be read; UNAVAILABLE: the engine cannot be
 * reached; FAILED_PRECONDITION: it is another engine than the daemon's, or the build failed, with the builder's last
 * lines. */
enum status image_build(const char *engine, const char *engine_id, const char *directory, const char *tag,
			struct error *err);
