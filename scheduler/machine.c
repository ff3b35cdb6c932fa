/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/machine.h"

#include <string.h>

#define LEGACY(NAME, VCPUS, MIB)                                                                             \
	{                                                                                                    \
		NAME, MACHINE_LEGACY, VCPUS, MIB, NULL, 0                                                    \
	}
#define LEGACY_GPU(NAME, VCPUS, MIB, TYPE, COUNT)                                                            \
	{                                                                                                    \
		NAME, MACHINE_LEGACY, VCPUS, MIB, "NVIDIA_TESLA_" TYPE, COUNT                                \
	}
#define COMPUTE(NAME, VCPUS, MIB)                                                                            \
	{                                                                                                    \
		NAME, MACHINE_COMPUTE_ENGINE, VCPUS, MIB, NULL, 0                                            \
	}
#define COMPUTE_A100(NAME, VCPUS, MIB, COUNT)                                                                \
	{                                                                                                    \
		NAME, MACHINE_COMPUTE_ENGINE, VCPUS, MIB, "NVIDIA_TESLA_A100", COUNT                         \
	}

/* Memory in MiB, of which the service writes 1024 as one GB. Sizes of the later families:
 * Source: https://cloud.google.com/compute/docs/general-purpose-machines, …/compute-optimized-machines and
 * …/memory-optimized-machines */
static const struct machine machines[] = {
	LEGACY("standard", 4, 15360),
	LEGACY("large_model", 8, 53248),
	LEGACY("complex_model_s", 8, 7372),
	LEGACY("complex_model_m", 16, 14745),
	LEGACY("complex_model_l", 32, 29491),
	LEGACY_GPU("standard_gpu", 8, 30720, "K80", 1),
	LEGACY_GPU("complex_model_m_gpu", 16, 61440, "K80", 4),
	LEGACY_GPU("complex_model_l_gpu", 32, 122880, "K80", 8),
	LEGACY_GPU("standard_p100", 8, 30720, "P100", 1),
	LEGACY_GPU("complex_model_m_p100", 16, 61440, "P100", 4),
	LEGACY_GPU("standard_v100", 8, 30720, "V100", 1),
	LEGACY_GPU("large_model_v100", 8, 53248, "V100", 1),
	LEGACY_GPU("complex_model_m_v100", 16, 61440, "V100", 4),
	LEGACY_GPU("complex_model_l_v100", 32, 122880, "V100", 8),
	{ "cloud_tpu", MACHINE_TPU, 0, 0, NULL, 0 },
	COMPUTE("n1-standard-4", 4, 15360),
	COMPUTE("n1-standard-8", 8, 30720),
	COMPUTE("n1-standard-16", 16, 61440),
	COMPUTE("n1-standard-32", 32, 122880),
	COMPUTE("n1-standard-64", 64, 245760),
	COMPUTE("n1-standard-96", 96, 368640),
	COMPUTE("n1-highmem-2", 2, 13312),
	COMPUTE("n1-highmem-4", 4, 26624),
	COMPUTE("n1-highmem-8", 8, 53248),
	COMPUTE("n1-highmem-16", 16, 106496),
	COMPUTE("n1-highmem-32", 32, 212992),
	COMPUTE("n1-highmem-64", 64, 425984),
	COMPUTE("n1-highmem-96", 96, 638976),
	{ "n1-highcpu-8", MACHINE_OF_TIER, 8, 7372, NULL, 0 },
	COMPUTE("n1-highcpu-16", 16, 14745),
	COMPUTE("n1-highcpu-32", 32, 29491),
	COMPUTE("n1-highcpu-64", 64, 58982),
	COMPUTE("n1-highcpu-96", 96, 88473),
	COMPUTE_A100("a2-highgpu-1g", 12, 87040, 1),
	COMPUTE_A100("a2-highgpu-2g", 24, 174080, 2),
	COMPUTE_A100("a2-highgpu-4g", 48, 348160, 4),
	COMPUTE_A100("a2-highgpu-8g", 96, 696320, 8),
	COMPUTE_A100("a2-megagpu-16g", 96, 1392640, 16),
	COMPUTE("e2-standard-2", 2, 8192),
	COMPUTE("e2-standard-4", 4, 16384),
	COMPUTE("e2-standard-8", 8, 32768),
	COMPUTE("e2-standard-16", 16, 65536),
	COMPUTE("e2-standard-32", 32, 131072),
	COMPUTE("e2-highmem-2", 2, 16384),
	COMPUTE("e2-highmem-4", 4, 32768),
	COMPUTE("e2-highmem-8", 8, 65536),
	COMPUTE("e2-highmem-16", 16, 131072),
	COMPUTE("e2-highcpu-2", 2, 2048),
	COMPUTE("e2-highcpu-4", 4, 4096),
	COMPUTE("e2-highcpu-8", 8, 8192),
	COMPUTE("e2-highcpu-16", 16, 16384),
	COMPUTE("e2-highcpu-32", 32, 32768),
	COMPUTE("n2-standard-2", 2, 8192),
	COMPUTE("n2-standard-4", 4, 16384),
	COMPUTE("n2-standard-8", 8, 32768),
	COMPUTE("n2-standard-16", 16, 65536),
	COMPUTE("n2-standard-32", 32, 131072),
	COMPUTE("n2-standard-48", 48, 196608),
	COMPUTE("n2-standard-64", 64, 262144),
	COMPUTE("n2-standard-80", 80, 327680),
	COMPUTE("n2-standard-96", 96, 393216),
	COMPUTE("n2-standard-128", 128, 524288),
	COMPUTE("n2-highmem-2", 2, 16384),
	COMPUTE("n2-highmem-4", 4, 32768),
	COMPUTE("n2-highmem-8", 8, 65536),
	COMPUTE("n2-highmem-16", 16, 131072),
	COMPUTE("n2-highmem-32", 32, 262144),
	COMPUTE("n2-highmem-48", 48, 393216),
	COMPUTE("n2-highmem-64", 64, 524288),
	COMPUTE("n2-highmem-80", 80, 655360),
	COMPUTE("n2-highmem-96", 96, 786432),
	COMPUTE("n2-highmem-128", 128, 884736),
	COMPUTE("n2-highcpu-2", 2, 2048),
	COMPUTE("n2-highcpu-4", 4, 4096),
	COMPUTE("n2-highcpu-8", 8, 8192),
	COMPUTE("n2-highcpu-16", 16, 16384),
	COMPUTE("n2-highcpu-32", 32, 32768),
	COMPUTE("n2-highcpu-48", 48, 49152),
	COMPUTE("n2-highcpu-64", 64, 65536),
	COMPUTE("n2-highcpu-80", 80, 81920),
	COMPUTE("n2-highcpu-96", 96, 98304),
	COMPUTE("n2d-standard-2", 2, 8192),
	COMPUTE("n2d-standard-4", 4, 16384),
	COMPUTE("n2d-standard-8", 8, 32768),
	COMPUTE("n2d-standard-16", 16, 65536),
	COMPUTE("n2d-standard-32", 32, 131072),
	COMPUTE("n2d-standard-48", 48, 196608),
	COMPUTE("n2d-standard-64", 64, 262144),
	COMPUTE("n2d-standard-80", 80, 327680),
	COMPUTE("n2d-standard-96", 96, 393216),
	COMPUTE("n2d-standard-128", 128, 524288),
	COMPUTE("n2d-standard-224", 224, 917504),
	COMPUTE("n2d-highmem-2", 2, 16384),
	COMPUTE("n2d-highmem-4", 4, 32768),
	COMPUTE("n2d-highmem-8", 8, 65536),
	COMPUTE("n2d-highmem-16", 16, 131072),
	COMPUTE("n2d-highmem-32", 32, 262144),
	COMPUTE("n2d-highmem-48", 48, 393216),
	COMPUTE("n2d-highmem-64", 64, 524288),
	COMPUTE("n2d-highmem-80", 80, 655360),
	COMPUTE("n2d-highmem-96", 96, 786432),
	COMPUTE("n2d-highcpu-2", 2, 2048),
	COMPUTE("n2d-highcpu-4", 4, 4096),
	COMPUTE("n2d-highcpu-8", 8, 8192),
	COMPUTE("n2d-highcpu-16", 16, 16384),
	COMPUTE("n2d-highcpu-32", 32, 32768),
	COMPUTE("n2d-highcpu-48", 48, 49152),
	COMPUTE("n2d-highcpu-64", 64, 65536),
	COMPUTE("n2d-highcpu-80", 80, 81920),
	COMPUTE("n2d-highcpu-96", 96, 98304),
	COMPUTE("n2d-highcpu-128", 128, 131072),
	COMPUTE("n2d-highcpu-224", 224, 229376),
	COMPUTE("c2-standard-4", 4, 16384),
	COMPUTE("c2-standard-8", 8, 32768),
	COMPUTE("c2-standard-16", 16, 65536),
	COMPUTE("c2-standard-30", 30, 122880),
	COMPUTE("c2-standard-60", 60, 245760),
	COMPUTE("m1-ultramem-40", 40, 984064),
	COMPUTE("m1-ultramem-80", 80, 1968128),
	COMPUTE("m1-ultramem-160", 160, 3936256),
	COMPUTE("m1-megamem-96", 96, 1468006),
};

static const char *const family_prefixes[] = { "e2-", "n2-", "n2d-", "c2-", "m1-" };

/* Which numbers of which accelerator an N1 machine takes.
 * Source: https://cloud.google.com/ai-platform/training/docs/using-gpus (the table of valid counts) */
static const struct {
	unsigned vcpus_max; /* of the machines in this row that no row above has taken */
	const char *family; /* NULL: any */
	unsigned k80, p4, p100, t4, v100;
} n1_rows[] = {
	{ 8, NULL, 1 | 2 | 4 | 8, 1 | 2 | 4, 1 | 2 | 4, 1 | 2 | 4, 1 | 2 | 4 | 8 },
	{ 16, NULL, 2 | 4 | 8, 1 | 2 | 4, 1 | 2 | 4, 1 | 2 | 4, 2 | 4 | 8 },
	{ 32, NULL, 4 | 8, 2 | 4, 2 | 4, 2 | 4, 4 | 8 },
	{ 64, "n1-highcpu-", 8, 4, 4, 4, 8 },
	{ 96, NULL, 0, 4, 0, 4, 8 },
};

/* Slices of eight cores alone, pods of more. */
static const struct {
	const char *type;
	unsigned counts;
} tpu_rows[] = {
	{ "TPU_V2", 8 },
	{ "TPU_V3", 8 },
	{ "TPU_V2_POD", 32 | 64 | 128 | 256 | 512 },
	{ "TPU_V3_POD", 32 | 64 | 128 | 256 | 512 | 1024 | 2048 },
	{ "TPU_V4_POD", 8 | 16 | 32 | 64 | 128 | 256 | 512 | 1024 | 2048 | 4096 },
};

/* Choice: the lists of these families changed often, so that other names are taken too, with a size unknown. */
static bool is_of_later_family(const char *name)
{
	if (strlen(name) > 63 || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")])
		return false;
	for (size_t i = 0; i < sizeof(family_prefixes) / sizeof(family_prefixes[0]); i++) {
		size_t length = strlen(family_prefixes[i]);

		if (strncmp(name, family_prefixes[i], length) == 0 && name[length])
			return true;
	}
	return false;
}

bool machine_find(const char *name, struct machine *ret_machine)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (strcmp(machines[i].name, name) == 0) {
			*ret_machine = machines[i];
			return true;
		}
	}
	if (!is_of_later_family(name))
		return false;
	*ret_machine = (struct machine){ .name = name, .category = MACHINE_COMPUTE_ENGINE };
	return true;
}

static unsigned n1_counts(const struct machine *machine, const char *type)
{
	for (size_t i = 0; i < sizeof(n1_rows) / sizeof(n1_rows[0]); i++) {
		if (machine->vcpus > n1_rows[i].vcpus_max)
			continue;
		if (n1_rows[i].family &&
		    strncmp(machine->name, n1_rows[i].family, strlen(n1_rows[i].family)) != 0)
			continue;
		if (strcmp(type, "NVIDIA_TESLA_K80") == 0)
			return n1_rows[i].k80;
		if (strcmp(type, "NVIDIA_TESLA_P4") == 0)
			return n1_rows[i].p4;
		if (strcmp(type, "NVIDIA_TESLA_P100") == 0)
			return n1_rows[i].p100;
		if (strcmp(type, "NVIDIA_TESLA_T4") == 0)
			return n1_rows[i].t4;
		return strcmp(type, "NVIDIA_TESLA_V100") == 0 ? n1_rows[i].v100 : 0;
	}
	return 0;
}

unsigned machine_accelerator_counts(const struct machine *machine, const char *type)
{
	if (machine->category == MACHINE_TPU) {
		for (size_t i = 0; i < sizeof(tpu_rows) / sizeof(tpu_rows[0]); i++)
			if (strcmp(tpu_rows[i].type, type) == 0)
				return tpu_rows[i].counts;
		return 0;
	}
	if (machine->category != MACHINE_COMPUTE_ENGINE)
		return 0;
	if (machine->accelerator_type)
		return strcmp(machine->accelerator_type, type) == 0 ? machine->accelerator_count : 0;
	return strncmp(machine->name, "n1-", 3) == 0 ? n1_counts(machine, type) : 0;
}

bool machine_takes(const struct machine *machine, const char *type, int64_t count)
{
	unsigned counts = machine_accelerator_counts(machine, type);

	return count > 0 && count <= counts && (count & (count - 1)) == 0 && (counts & (uint64_t)count);
}
