/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/image_facts.h: what an engine knows of an image. */
#include <stdbool.h>

struct image_facts {
	char platform[64];  /* "linux/arm64"; "": the engine does not tell */
	bool is_local;      /* built here: it was neither pulled nor pushed */
	char program[256];  /* what a container would run, as it is called; "": nothing */
	bool lacks_program; /* the image has no such file */
};
