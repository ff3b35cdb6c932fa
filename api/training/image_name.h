/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/image_name.h: references of container images: [REGISTRY/]PATH[:TAG][@DIGEST].
 *
 * Pure. Thread: any.
 * Source: https://github.com/distribution/reference (the grammar at the head of reference.go, and the rule of
 * normalize.go that tells a registry from the first part of a path) */
#include <stdbool.h>
#include <stddef.h>

struct image_name {
	size_t registry_length; /* length of host[:port] at the beginning of the text; 0: none, which means Docker Hub */
	size_t name_length;     /* registry and path, without tag and digest */
	bool has_tag, has_digest;
};

/* False if @text is not a reference of this form. */
bool image_name_parse(const char *text, struct image_name *ret_name);

/* From where the cloud's machines can pull an image. */
enum image_origin {
	IMAGE_OF_GOOGLE,  /* Container Registry or Artifact Registry: where the service expects images */
	IMAGE_OF_OTHERS,  /* another registry; Docker Hub if none is named */
	IMAGE_OF_MACHINE, /* a loopback address: only this machine */
};

/* Returns from where the cloud can pull the image. @text must be accepted by image_name_parse(). */
enum image_origin image_origin(const char *text);
