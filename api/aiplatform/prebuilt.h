/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/prebuilt.h: parses the names of the prebuilt images that Google publishes for training.
 *
 * Pure. Thread: any.
 * Source: https://cloud.google.com/vertex-ai/docs/training/pre-built-containers */
#include <stdbool.h>

enum { PREBUILT_WORD_SIZE = 16 };

struct prebuilt {
	char framework[PREBUILT_WORD_SIZE]; /* "tf", "pytorch", "sklearn" */
	char version[PREBUILT_WORD_SIZE];   /* "2.11" */
	char python[PREBUILT_WORD_SIZE];    /* "3.10"; "3.7" if the name has none */
	bool gpu;
};

/* Parses "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-11.py310:latest", and the older names below gcr.io. False:
 * another kind of name. Only the name is parsed; the image need not exist. */
bool prebuilt_parse(const char *image, struct prebuilt *ret_prebuilt);
