/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of machines and their accelerators. The service checks first the machine's type, then that the type may
 * have such accelerators, then their number.
 * Source: https://cloud.google.com/vertex-ai/docs/training/configure-compute; the sentences are those of real
 * answers */
#include <string.h>

#include "api/aiplatform/rules_parts.h"
#include "api/training/forms.h"
#include "daemon/base/json.h"
#include "daemon/base/text.h"
#include "scheduler/plan/accelerator.h"
#include "scheduler/plan/machine.h"

/* Choice: the limit for machine types that are not in the table of machines. */
enum { ACCELERATOR_COUNT_MAX = 1000 };

bool accelerator_is_retired(const char *type)
{
	return strcmp(type, "NVIDIA_TESLA_K80") == 0;
}

static bool machine_of(const json_t *machine_spec, struct machine *ret_machine)
{
	const char *type = json_text_at(machine_spec, "machineType");

	return type && machine_find_in(type, MACHINE_OF_VERTEX, ret_machine);
}

void pool_accelerators(const json_t *pool, const char **ret_type, unsigned *ret_count)
{
	const json_t *spec = json_object_get(pool, "machineSpec");
	struct machine machine;

	*ret_type = json_text_at(spec, "acceleratorType");
	*ret_count = (unsigned)json_int_at(spec, "acceleratorCount", 0);
	if (*ret_type || !machine_of(spec, &machine) || !machine.accelerator_type)
		return;
	*ret_type = machine.accelerator_type;
	*ret_count = machine.accelerator_count;
}

bool pool_has_tpu(const json_t *pool)
{
	const json_t *spec = json_object_get(pool, "machineSpec");
	const char *type = json_text_at(spec, "acceleratorType");
	struct machine machine;

	return (type && accelerator_is_tpu(type)) ||
	       (machine_of(spec, &machine) && machine.category == MACHINE_TPU_VM);
}

/* "[1, 2, 4]" */
static void counts_list(struct text *text, unsigned counts)
{
	const char *before = "[";

	for (unsigned count = 1; counts; count *= 2) {
		if (!(counts & count))
			continue;
		counts &= ~count;
		text_printf(text, "%s%u", before, count);
		before = ", ";
	}
	text_puts(text, "]");
}

static void check_attached(struct findings *findings, const struct machine *machine, const char *type,
			   int64_t count, bool lenient)
{
	const bool is_gone = accelerator_is_retired(type) && !lenient;
	const unsigned counts = is_gone ? 0 : machine_accelerator_counts(machine, type);
	struct text may AUTO_TEXT = { 0 };

	if (!counts) {
		findings_add(findings, "accelerator_type",
			     "Accelerator \"%s\" is not supported for machine type \"%s\".", type,
			     machine->name);
		return;
	}
	counts_list(&may, counts);
	if (!machine_takes(machine, type, count))
		findings_add(
			findings, "accelerator_count",
			"The accelerator count \"%lld\" is not allowed. The allowed numbers of accelerator "
			"\"%s\" to use with machine type \"%s\" are: %s.",
			(long long)count, type, machine->name, may.data);
}

/* @machine: NULL if the machine type is not in the table. */
static void check_accelerators(struct findings *findings, const json_t *spec, const struct machine *machine,
			       bool lenient)
{
	const char *type = json_text_at(spec, "acceleratorType");
	const int64_t count = json_int_at(spec, "acceleratorCount", 0);

	if (!type != !count)
		findings_add(findings, "accelerator_type",
			     "Both `accelerator_type` and `accelerator_count` should be specified or none.");
	else if (type && machine)
		check_attached(findings, machine, type, count, lenient);
	else if (count < 0 || count > ACCELERATOR_COUNT_MAX)
		findings_add(findings, "accelerator_count",
			     "The accelerator count must be from 1 to %d, not %lld.", ACCELERATOR_COUNT_MAX,
			     (long long)count);
}

/* Only machines with a TPU may have a topology, which describes their TPU. */
static void check_topology(struct findings *findings, const json_t *spec, const struct machine *machine)
{
	const char *topology = json_text_at(spec, "tpuTopology");
	const bool has_tpu = machine->category == MACHINE_TPU_VM;
	const bool by_type = strcmp(machine->name, "cloud-tpu") == 0;

	if (topology && !has_tpu)
		findings_add(findings, "tpu_topology",
			     "A TPU topology cannot be specified for machine type \"%s\".", machine->name);
	else if (topology && !text_matches(topology, "[1-9][0-9]?x[1-9][0-9]?(x[1-9][0-9]?)?"))
		findings_add(findings, "tpu_topology", "'%.*s' is not a TPU topology such as 2x2.",
			     FINDINGS_SHOWN_BYTES, topology);
	else if (has_tpu && !by_type && !topology)
		findings_add(findings, "tpu_topology",
			     "A TPU topology must be specified for machine type \"%s\".", machine->name);
	if (by_type && !json_object_get(spec, "acceleratorType"))
		findings_add(findings, "accelerator_type",
			     "An accelerator type must be specified for machine type \"%s\".", machine->name);
}

/* Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/MachineSpec (gpuPartitionSize) */
static void check_partition(struct findings *findings, const json_t *spec)
{
	if (json_object_get(spec, "gpuPartitionSize") && json_int_at(spec, "acceleratorCount", 0) != 1)
		findings_add(findings, "gpu_partition_size",
			     "The accelerator count must be 1 when a GPU partition size is specified.");
}

/* Source: https://cloud.google.com/vertex-ai/docs/training/use-reservations */
static void check_reservation(struct findings *findings, const json_t *spec)
{
	const json_t *affinity = json_object_get(spec, "reservationAffinity");
	const char *type = json_text_at(affinity, "reservationAffinityType");
	const bool is_specific = type && strcmp(type, "SPECIFIC_RESERVATION") == 0;
	const bool has_key = json_object_get(affinity, "key");
	const bool has_values = json_object_get(affinity, "values");

	if (affinity && !type)
		findings_add(findings, "reservation_affinity.reservation_affinity_type",
			     "The type must be specified.");
	else if (is_specific && !(has_key && has_values))
		findings_add(findings, "reservation_affinity",
			     "Both key and values must be specified with SPECIFIC_RESERVATION.");
	else if (affinity && !is_specific && (has_key || has_values))
		findings_add(findings, "reservation_affinity",
			     "Key and values can only be specified with SPECIFIC_RESERVATION.");
}

void check_machine_spec(struct findings *findings, const json_t *spec,
			const struct aiplatform_settings *settings)
{
	const char *type = json_text_at(spec, "machineType");
	struct machine machine;
	const bool known = machine_of(spec, &machine);

	if (!type)
		findings_add(findings, "machine_type", "The machine type must be specified.");
	else if (!known && !(settings->lenient && is_cloud_name(type)))
		findings_add(findings, "machine_type", "Machine type \"%.*s\" is not supported.",
			     FINDINGS_SHOWN_BYTES, type);
	check_accelerators(findings, spec, known ? &machine : NULL, settings->lenient);
	if (known)
		check_topology(findings, spec, &machine);
	check_reservation(findings, spec);
	check_partition(findings, spec);
}
