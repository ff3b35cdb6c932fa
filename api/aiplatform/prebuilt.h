/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/prebuilt.h: the prepared images that Google publishes for training, by their names.
 *
 * Pure. Thread: any.
 * Source: https://cloud.google.com/vertex-ai/docs/training/pre-built-containers */
#include <stdbool.h>

enum { PREBUILT_WORD_SIZE = 16 };

struct prebuilt {
	char framework[PREBUILT_WORD_SIZE]; /* "tf", "pytorch", "sklearn" */
	char version[PREBUILT_WORD_SIZE];   /* "2.11" */
	char python[PREBUILT_WORD_SIZE];    /* "3.10"; "3.7" when the name tells none */
	bool gpu;
};

/* "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-11.py310:latest", and the older names below gcr.io. False for others.
 * Names tell what is in them; that there is such an image they do not. */
bool prebuilt_parse(const char *image, struct prebuilt *ret_prebuilt);
