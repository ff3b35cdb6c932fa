/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/machine.h: the machine types of AI Platform Training and of Vertex AI, and what can be attached to them.
 *
 * Pure: constant tables. Thread: any.
 * Source: https://cloud.google.com/ai-platform/training/docs/machine-types and
 * https://cloud.google.com/ai-platform/training/docs/using-gpus;
 * https://cloud.google.com/vertex-ai/docs/training/configure-compute for Vertex AI, where the sizes of machines are
 * those of https://cloud.google.com/compute/docs/machine-resource */
#include <stdbool.h>
#include <stdint.h>

enum machine_category {
	MACHINE_LEGACY,         /* "standard", "complex_model_m": accelerators are part of the name */
	MACHINE_COMPUTE_ENGINE, /* "n1-standard-4": accelerators are asked for apart */
	MACHINE_TPU,            /* "cloud_tpu": runs no container */
	MACHINE_TPU_VM,         /* "cloud-tpu", "ct5lp-hightpu-4t": the container runs beside the TPU */
	MACHINE_OF_TIER,        /* only inside a scale tier: no client may name it */
};

/* Which API takes the type. */
enum { MACHINE_OF_ML = 1 << 0, MACHINE_OF_VERTEX = 1 << 1 };

struct machine {
	const char *name;
	enum machine_category category;
	unsigned vcpus;               /* 0: not known */
	unsigned memory_mib;          /* 0: not known */
	const char *accelerator_type; /* what comes with the machine by its name; NULL: nothing */
	unsigned accelerator_count;
	unsigned apis; /* MACHINE_OF_… */
};

/* False when no API of @apis has such a machine type. Of ML's later families (e2-, n2-, n2d-, c2-, m1-) any name is
 * taken, since their lists changed often; one that the catalogue has not is of unknown size, and ret_machine->name is
 * @name itself. */
bool machine_find_in(const char *name, unsigned apis, struct machine *ret_machine);
/* The same in all of them. */
bool machine_find(const char *name, struct machine *ret_machine);

/* How many accelerators of @type one machine can have: each bit is such a number (1, 2, 4, 8 … or'ed);
 * 0 when none. Compute Engine and TPU types only. */
unsigned machine_accelerator_counts(const struct machine *machine, const char *type);
bool machine_takes(const struct machine *machine, const char *type, int64_t count);
