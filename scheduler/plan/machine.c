/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/machine.h"

#include <string.h>

#define ROW(NAME, CATEGORY, VCPUS, MIB, TYPE, COUNT, APIS)                                                   \
	{                                                                                                    \
		NAME, MACHINE_##CATEGORY, VCPUS, MIB, TYPE, COUNT, APIS                                      \
	}
#define LEGACY(NAME, VCPUS, MIB) ROW(NAME, LEGACY, VCPUS, MIB, NULL, 0, MACHINE_OF_ML)
#define LEGACY_GPU(NAME, VCPUS, MIB, TYPE, COUNT)                                                            \
	ROW(NAME, LEGACY, VCPUS, MIB, "NVIDIA_TESLA_" TYPE, COUNT, MACHINE_OF_ML)
#define COMPUTE(NAME, VCPUS, MIB, APIS) ROW(NAME, COMPUTE_ENGINE, VCPUS, MIB, NULL, 0, APIS)
#define BOTH(NAME, VCPUS, MIB)          COMPUTE(NAME, VCPUS, MIB, MACHINE_OF_ML | MACHINE_OF_VERTEX)
#define ML(NAME, VCPUS, MIB)            COMPUTE(NAME, VCPUS, MIB, MACHINE_OF_ML)
#define VERTEX(NAME, VCPUS, MIB)        COMPUTE(NAME, VCPUS, MIB, MACHINE_OF_VERTEX)
#define BOTH_GPU(NAME, VCPUS, MIB, TYPE, COUNT)                                                              \
	ROW(NAME, COMPUTE_ENGINE, VCPUS, MIB, TYPE, COUNT, MACHINE_OF_ML | MACHINE_OF_VERTEX)
#define VERTEX_GPU(NAME, VCPUS, MIB, TYPE, COUNT)                                                            \
	ROW(NAME, COMPUTE_ENGINE, VCPUS, MIB, TYPE, COUNT, MACHINE_OF_VERTEX)
#define VERTEX_TPU(NAME, VCPUS, MIB) ROW(NAME, TPU_VM, VCPUS, MIB, NULL, 0, MACHINE_OF_VERTEX)

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
	ROW("cloud_tpu", TPU, 0, 0, NULL, 0, MACHINE_OF_ML),
	BOTH("n1-standard-4", 4, 15360),
	BOTH("n1-standard-8", 8, 30720),
	BOTH("n1-standard-16", 16, 61440),
	BOTH("n1-standard-32", 32, 122880),
	BOTH("n1-standard-64", 64, 245760),
	BOTH("n1-standard-96", 96, 368640),
	BOTH("n1-highmem-2", 2, 13312),
	BOTH("n1-highmem-4", 4, 26624),
	BOTH("n1-highmem-8", 8, 53248),
	BOTH("n1-highmem-16", 16, 106496),
	BOTH("n1-highmem-32", 32, 212992),
	BOTH("n1-highmem-64", 64, 425984),
	BOTH("n1-highmem-96", 96, 638976),
	ROW("n1-highcpu-8", OF_TIER, 8, 7372, NULL, 0, MACHINE_OF_ML),
	BOTH("n1-highcpu-16", 16, 14745),
	BOTH("n1-highcpu-32", 32, 29491),
	BOTH("n1-highcpu-64", 64, 58982),
	BOTH("n1-highcpu-96", 96, 88473),
	BOTH_GPU("a2-highgpu-1g", 12, 87040, "NVIDIA_TESLA_A100", 1),
	BOTH_GPU("a2-highgpu-2g", 24, 174080, "NVIDIA_TESLA_A100", 2),
	BOTH_GPU("a2-highgpu-4g", 48, 348160, "NVIDIA_TESLA_A100", 4),
	BOTH_GPU("a2-highgpu-8g", 96, 696320, "NVIDIA_TESLA_A100", 8),
	BOTH_GPU("a2-megagpu-16g", 96, 1392640, "NVIDIA_TESLA_A100", 16),
	ML("e2-standard-2", 2, 8192),
	BOTH("e2-standard-4", 4, 16384),
	BOTH("e2-standard-8", 8, 32768),
	BOTH("e2-standard-16", 16, 65536),
	BOTH("e2-standard-32", 32, 131072),
	BOTH("e2-highmem-2", 2, 16384),
	BOTH("e2-highmem-4", 4, 32768),
	BOTH("e2-highmem-8", 8, 65536),
	BOTH("e2-highmem-16", 16, 131072),
	ML("e2-highcpu-2", 2, 2048),
	ML("e2-highcpu-4", 4, 4096),
	ML("e2-highcpu-8", 8, 8192),
	BOTH("e2-highcpu-16", 16, 16384),
	BOTH("e2-highcpu-32", 32, 32768),
	ML("n2-standard-2", 2, 8192),
	BOTH("n2-standard-4", 4, 16384),
	BOTH("n2-standard-8", 8, 32768),
	BOTH("n2-standard-16", 16, 65536),
	BOTH("n2-standard-32", 32, 131072),
	BOTH("n2-standard-48", 48, 196608),
	BOTH("n2-standard-64", 64, 262144),
	BOTH("n2-standard-80", 80, 327680),
	ML("n2-standard-96", 96, 393216),
	ML("n2-standard-128", 128, 524288),
	BOTH("n2-highmem-2", 2, 16384),
	BOTH("n2-highmem-4", 4, 32768),
	BOTH("n2-highmem-8", 8, 65536),
	BOTH("n2-highmem-16", 16, 131072),
	BOTH("n2-highmem-32", 32, 262144),
	BOTH("n2-highmem-48", 48, 393216),
	BOTH("n2-highmem-64", 64, 524288),
	BOTH("n2-highmem-80", 80, 655360),
	ML("n2-highmem-96", 96, 786432),
	ML("n2-highmem-128", 128, 884736),
	ML("n2-highcpu-2", 2, 2048),
	ML("n2-highcpu-4", 4, 4096),
	ML("n2-highcpu-8", 8, 8192),
	BOTH("n2-highcpu-16", 16, 16384),
	BOTH("n2-highcpu-32", 32, 32768),
	BOTH("n2-highcpu-48", 48, 49152),
	BOTH("n2-highcpu-64", 64, 65536),
	BOTH("n2-highcpu-80", 80, 81920),
	ML("n2-highcpu-96", 96, 98304),
	ML("n2d-standard-2", 2, 8192),
	ML("n2d-standard-4", 4, 16384),
	ML("n2d-standard-8", 8, 32768),
	ML("n2d-standard-16", 16, 65536),
	ML("n2d-standard-32", 32, 131072),
	ML("n2d-standard-48", 48, 196608),
	ML("n2d-standard-64", 64, 262144),
	ML("n2d-standard-80", 80, 327680),
	ML("n2d-standard-96", 96, 393216),
	ML("n2d-standard-128", 128, 524288),
	ML("n2d-standard-224", 224, 917504),
	ML("n2d-highmem-2", 2, 16384),
	ML("n2d-highmem-4", 4, 32768),
	ML("n2d-highmem-8", 8, 65536),
	ML("n2d-highmem-16", 16, 131072),
	ML("n2d-highmem-32", 32, 262144),
	ML("n2d-highmem-48", 48, 393216),
	ML("n2d-highmem-64", 64, 524288),
	ML("n2d-highmem-80", 80, 655360),
	ML("n2d-highmem-96", 96, 786432),
	ML("n2d-highcpu-2", 2, 2048),
	ML("n2d-highcpu-4", 4, 4096),
	ML("n2d-highcpu-8", 8, 8192),
	ML("n2d-highcpu-16", 16, 16384),
	ML("n2d-highcpu-32", 32, 32768),
	ML("n2d-highcpu-48", 48, 49152),
	ML("n2d-highcpu-64", 64, 65536),
	ML("n2d-highcpu-80", 80, 81920),
	ML("n2d-highcpu-96", 96, 98304),
	ML("n2d-highcpu-128", 128, 131072),
	ML("n2d-highcpu-224", 224, 229376),
	BOTH("c2-standard-4", 4, 16384),
	BOTH("c2-standard-8", 8, 32768),
	BOTH("c2-standard-16", 16, 65536),
	BOTH("c2-standard-30", 30, 122880),
	BOTH("c2-standard-60", 60, 245760),
	BOTH("m1-ultramem-40", 40, 984064),
	BOTH("m1-ultramem-80", 80, 1968128),
	BOTH("m1-ultramem-160", 160, 3936256),
	BOTH("m1-megamem-96", 96, 1468006),
	VERTEX("n4-standard-2", 2, 8192),
	VERTEX("n4-standard-4", 4, 16384),
	VERTEX("n4-standard-8", 8, 32768),
	VERTEX("n4-standard-16", 16, 65536),
	VERTEX("n4-standard-32", 32, 131072),
	VERTEX("n4-standard-48", 48, 196608),
	VERTEX("n4-standard-64", 64, 262144),
	VERTEX("n4-standard-80", 80, 327680),
	VERTEX("n4-highmem-2", 2, 16384),
	VERTEX("n4-highmem-4", 4, 32768),
	VERTEX("n4-highmem-8", 8, 65536),
	VERTEX("n4-highmem-16", 16, 131072),
	VERTEX("n4-highmem-32", 32, 262144),
	VERTEX("n4-highmem-48", 48, 393216),
	VERTEX("n4-highmem-64", 64, 524288),
	VERTEX("n4-highmem-80", 80, 655360),
	VERTEX("n4-highcpu-2", 2, 4096),
	VERTEX("n4-highcpu-4", 4, 8192),
	VERTEX("n4-highcpu-8", 8, 16384),
	VERTEX("n4-highcpu-16", 16, 32768),
	VERTEX("n4-highcpu-32", 32, 65536),
	VERTEX("n4-highcpu-48", 48, 98304),
	VERTEX("n4-highcpu-64", 64, 131072),
	VERTEX("n4-highcpu-80", 80, 163840),
	VERTEX_GPU("g2-standard-4", 4, 16384, "NVIDIA_L4", 1),
	VERTEX_GPU("g2-standard-8", 8, 32768, "NVIDIA_L4", 1),
	VERTEX_GPU("g2-standard-12", 12, 49152, "NVIDIA_L4", 1),
	VERTEX_GPU("g2-standard-16", 16, 65536, "NVIDIA_L4", 1),
	VERTEX_GPU("g2-standard-32", 32, 131072, "NVIDIA_L4", 1),
	VERTEX_GPU("g2-standard-24", 24, 98304, "NVIDIA_L4", 2),
	VERTEX_GPU("g2-standard-48", 48, 196608, "NVIDIA_L4", 4),
	VERTEX_GPU("g2-standard-96", 96, 393216, "NVIDIA_L4", 8),
	VERTEX_GPU("g4-standard-48", 48, 184320, "NVIDIA_RTX_PRO_6000", 1),
	VERTEX_GPU("g4-standard-96", 96, 368640, "NVIDIA_RTX_PRO_6000", 2),
	VERTEX_GPU("g4-standard-192", 192, 737280, "NVIDIA_RTX_PRO_6000", 4),
	VERTEX_GPU("g4-standard-384", 384, 1474560, "NVIDIA_RTX_PRO_6000", 8),
	VERTEX_GPU("a2-ultragpu-1g", 12, 174080, "NVIDIA_A100_80GB", 1),
	VERTEX_GPU("a2-ultragpu-2g", 24, 348160, "NVIDIA_A100_80GB", 2),
	VERTEX_GPU("a2-ultragpu-4g", 48, 696320, "NVIDIA_A100_80GB", 4),
	VERTEX_GPU("a2-ultragpu-8g", 96, 1392640, "NVIDIA_A100_80GB", 8),
	VERTEX_GPU("a3-highgpu-1g", 26, 239616, "NVIDIA_H100_80GB", 1),
	VERTEX_GPU("a3-highgpu-2g", 52, 479232, "NVIDIA_H100_80GB", 2),
	VERTEX_GPU("a3-highgpu-4g", 104, 958464, "NVIDIA_H100_80GB", 4),
	VERTEX_GPU("a3-highgpu-8g", 208, 1916928, "NVIDIA_H100_80GB", 8),
	VERTEX_GPU("a3-megagpu-8g", 208, 1916928, "NVIDIA_H100_MEGA_80GB", 8),
	VERTEX_GPU("a3-ultragpu-8g", 224, 3022848, "NVIDIA_H200_141GB", 8),
	VERTEX_GPU("a4-highgpu-8g", 224, 4063232, "NVIDIA_B200", 8),
	VERTEX_GPU("a4x-highgpu-4g", 140, 905216, "NVIDIA_GB200", 4),
	VERTEX_TPU("cloud-tpu", 0, 0),
	VERTEX_TPU("ct5lp-hightpu-1t", 24, 49152),
	VERTEX_TPU("ct5lp-hightpu-4t", 112, 196608),
	VERTEX_TPU("ct5lp-hightpu-8t", 224, 393216),
	VERTEX_TPU("ct6e-standard-1t", 44, 49152),
	VERTEX_TPU("ct6e-standard-4t", 180, 737280),
	VERTEX_TPU("ct6e-standard-8t", 180, 1474560),
	VERTEX_TPU("tpu7x-standard-4t", 0, 0),
};

static const char *const family_prefixes[] = { "e2-", "n2-", "n2d-", "c2-", "m1-" };

/* How many accelerators of each kind an N1 machine can have: powers of two, or'ed together.
 * Source: https://cloud.google.com/ai-platform/training/docs/using-gpus (the table of valid counts) */
static const struct {
	unsigned vcpus_max; /* the first row of the family with at least the vCPUs of the machine applies */
	const char *family; /* NULL: any */
	unsigned k80, p4, p100, t4, v100;
} n1_rows[] = {
	{ 8, NULL, 1 | 2 | 4 | 8, 1 | 2 | 4, 1 | 2 | 4, 1 | 2 | 4, 1 | 2 | 4 | 8 },
	{ 16, NULL, 2 | 4 | 8, 1 | 2 | 4, 1 | 2 | 4, 1 | 2 | 4, 2 | 4 | 8 },
	{ 32, NULL, 4 | 8, 2 | 4, 2 | 4, 2 | 4, 4 | 8 },
	{ 64, "n1-highcpu-", 8, 4, 4, 4, 8 },
	{ 96, NULL, 0, 4, 0, 4, 8 },
};

/* How many cores each TPU type can have, or'ed together: a single slice has eight, a pod more. Vertex AI has no types of
 * their own for the pods of TPU v2 and v3. */
static const struct {
	const char *type;
	unsigned counts, vertex_counts;
} tpu_rows[] = {
	{ "TPU_V2", 8, 8 | 32 | 64 | 128 | 256 | 512 },
	{ "TPU_V3", 8, 8 | 32 | 64 | 128 | 256 | 512 | 1024 | 2048 },
	{ "TPU_V2_POD", 32 | 64 | 128 | 256 | 512, 0 },
	{ "TPU_V3_POD", 32 | 64 | 128 | 256 | 512 | 1024 | 2048, 0 },
	{ "TPU_V4_POD", 8 | 16 | 32 | 64 | 128 | 256 | 512 | 1024 | 2048 | 4096, 0 },
};

/* Whether the name may be a machine type of a later family. Choice: the lists of these families changed often, so names
 * outside of the catalogue are accepted too, with an unknown size. */
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

bool machine_find_in(const char *name, unsigned apis, struct machine *ret_machine)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (machines[i].apis & apis && strcmp(machines[i].name, name) == 0) {
			*ret_machine = machines[i];
			return true;
		}
	}
	if (!(apis & MACHINE_OF_ML) || !is_of_later_family(name))
		return false;
	*ret_machine =
		(struct machine){ .name = name, .category = MACHINE_COMPUTE_ENGINE, .apis = MACHINE_OF_ML };
	return true;
}

bool machine_find(const char *name, struct machine *ret_machine)
{
	return machine_find_in(name, MACHINE_OF_ML | MACHINE_OF_VERTEX, ret_machine);
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

/* How many cores of the TPU type the machine can have. Of Vertex AI's TPU machines only cloud-tpu has its TPU named by
 * type; the others have a topology. */
static unsigned tpu_counts(const struct machine *machine, const char *type)
{
	const bool is_vm = machine->category == MACHINE_TPU_VM;

	if (is_vm && strcmp(machine->name, "cloud-tpu") != 0)
		return 0;
	for (size_t i = 0; i < sizeof(tpu_rows) / sizeof(tpu_rows[0]); i++)
		if (strcmp(tpu_rows[i].type, type) == 0)
			return is_vm ? tpu_rows[i].vertex_counts : tpu_rows[i].counts;
	return 0;
}

unsigned machine_accelerator_counts(const struct machine *machine, const char *type)
{
	if (machine->category == MACHINE_TPU || machine->category == MACHINE_TPU_VM)
		return tpu_counts(machine, type);
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
