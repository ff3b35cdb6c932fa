/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/image_facts.h: facts about an image, from the engine. */
#include <stdbool.h>

struct image_facts {
	char platform[64];  /* "linux/arm64"; "": unknown */
	bool is_local;      /* built on this machine: neither pulled nor pushed */
	char program[256];  /* the program that a container would run; "": none */
	bool lacks_program; /* that program does not exist in the image */
};
