/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/machine.h: the machine types of AI Platform Training and of Vertex AI, and the accelerators that each
 * can have.
 *
 * Pure: constant tables. Thread: any.
 * Source: https://cloud.google.com/ai-platform/training/docs/machine-types and
 * https://cloud.google.com/ai-platform/training/docs/using-gpus;
 * https://cloud.google.com/vertex-ai/docs/training/configure-compute for Vertex AI, where the sizes of machines are
 * those of https://cloud.google.com/compute/docs/machine-resource */
#include <stdbool.h>
#include <stdint.h>

enum machine_category {
	MACHINE_LEGACY,         /* "standard", "complex_model_m": the name implies the accelerators */
	MACHINE_COMPUTE_ENGINE, /* "n1-standard-4": accelerators are requested separately */
	MACHINE_TPU,            /* "cloud_tpu": runs no container */
	MACHINE_TPU_VM,         /* "cloud-tpu", "ct5lp-hightpu-4t": the container runs beside the TPU */
	MACHINE_OF_TIER,        /* only part of a scale tier: clients cannot name it */
};

/* The APIs that accept the type. */
enum { MACHINE_OF_ML = 1 << 0, MACHINE_OF_VERTEX = 1 << 1 };

struct machine {
	const char *name;
	enum machine_category category;
	unsigned vcpus;               /* 0: not known */
	unsigned memory_mib;          /* 0: not known */
	const char *accelerator_type; /* accelerator that the name implies; NULL: none */
	unsigned accelerator_count;
	unsigned apis; /* MACHINE_OF_… */
};

/* False: no API of @apis has such a machine type. Of ML's later families (e2-, n2-, n2d-, c2-, m1-) any name is
 * accepted, because their lists changed often; a name that is not in the catalogue has an unknown size, and
 * ret_machine->name is @name itself. */
bool machine_find_in(const char *name, unsigned apis, struct machine *ret_machine);
/* As the function above, for the machines of all APIs. */
bool machine_find(const char *name, struct machine *ret_machine);

/* How many accelerators of @type one machine can have: a set of powers of two (1, 2, 4, 8 …) or'ed together; 0: none.
 * Only for Compute Engine and TPU types. */
unsigned machine_accelerator_counts(const struct machine *machine, const char *type);
bool machine_takes(const struct machine *machine, const char *type, int64_t count);
