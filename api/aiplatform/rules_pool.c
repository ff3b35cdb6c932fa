/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of worker pools: counts, disks, mounts.
 * Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/CustomJobSpec#WorkerPoolSpec */
#include <string.h>

#include "api/aiplatform/rules_parts.h"
#include "daemon/base/json.h"
#include "scheduler/plan/plan.h"

/* Choice: the service names no limit; more replicas than this would not fit on one machine. */
enum { REPLICA_COUNT_MAX = 1000 };

bool pool_is_skipped(const json_t *pool)
{
	return json_object_size(pool) == 0;
}

/* Choice: the first pool may lack a count, because the API calls the count optional and 1 is its only valid value. */
static void check_count(struct findings *findings, const json_t *pool, size_t index)
{
	const int64_t count = json_int_at(pool, "replicaCount", index == 0);

	if (index == 0 && count != 1)
		findings_add(findings, "replica_count",
			     "The replica count of the first worker pool must be 1, not %lld.",
			     (long long)count);
	else if (count < 1 || count > REPLICA_COUNT_MAX)
		findings_add(findings, "replica_count", "The replica count must be from 1 to %d, not %lld.",
			     REPLICA_COUNT_MAX, (long long)count);
}

/* Source: https://cloud.google.com/vertex-ai/docs/training/configure-compute#boot_disk_options */
static void check_disk(struct findings *findings, const json_t *pool)
{
	static const char *const types[] = { "pd-ssd", "pd-standard", "hyperdisk-balanced" };
	const json_t *disk = json_object_get(pool, "diskSpec");
	const char *type = json_text_at(disk, "bootDiskType");
	const int64_t size_gb = json_int_at(disk, "bootDiskSizeGb", 0);
	bool known = !type;

	for (size_t i = 0; type && i < sizeof(types) / sizeof(types[0]); i++)
		known = known || strcmp(types[i], type) == 0;
	if (!known)
		findings_add(
			findings, "disk_spec.boot_disk_type",
			"The boot disk type must be pd-ssd, pd-standard or hyperdisk-balanced, not '%.*s'.",
			FINDINGS_SHOWN_BYTES, type);
	if (size_gb && (size_gb < 100 || size_gb > 64000))
		findings_add(findings, "disk_spec.boot_disk_size_gb",
			     "The boot disk size must be from 100 to 64000, not %lld.", (long long)size_gb);
}

static void check_members(struct findings *findings, const json_t *mount, const char *const *members,
			  const char *const *snakes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!json_object_get(mount, members[i]))
			findings_add(findings, snakes[i], "It must be specified.");
}

/* Source: https://cloud.google.com/vertex-ai/docs/training/train-nfs-share */
static void check_nfs_mount(struct findings *findings, const json_t *mount)
{
	static const char *const members[] = { "server", "path", "mountPoint" };
	static const char *const snakes[] = { "server", "path", "mount_point" };
	const char *path = json_text_at(mount, "path");

	check_members(findings, mount, members, snakes, 3);
	if (path && *path != '/')
		findings_add(findings, "path", "The path must begin with '/': '%.*s'.", FINDINGS_SHOWN_BYTES,
			     path);
}

static void check_lustre_mount(struct findings *findings, const json_t *mount)
{
	static const char *const members[] = { "instanceIp", "volumeHandle", "filesystem", "mountPoint" };
	static const char *const snakes[] = { "instance_ip", "volume_handle", "filesystem", "mount_point" };

	check_members(findings, mount, members, snakes, 4);
}

static void check_mounts(struct findings *findings, const json_t *list, const char *snake,
			 void (*check)(struct findings *, const json_t *))
{
	size_t index;
	const json_t *mount;

	json_array_foreach((json_t *)list, index, mount) {
		const size_t length = findings_enter(findings, snake);

		findings_enter_index(findings, index);
		check(findings, mount);
		findings_leave(findings, length);
	}
}

/* Checks the fields in the order in which the service reports them: that of the message. */
static void check_pool(struct findings *findings, const json_t *pool, size_t index,
		       const struct aiplatform_settings *settings)
{
	const size_t length = findings_enter(findings, "machine_spec");

	check_machine_spec(findings, json_object_get(pool, "machineSpec"), settings);
	findings_leave(findings, length);
	check_count(findings, pool, index);
	check_mounts(findings, json_object_get(pool, "nfsMounts"), "nfs_mounts", check_nfs_mount);
	check_disk(findings, pool);
	check_task(findings, pool);
	check_mounts(findings, json_object_get(pool, "lustreMounts"), "lustre_mounts", check_lustre_mount);
}

/* Source: https://cloud.google.com/vertex-ai/docs/training/training-with-tpu-vm */
static void check_tpu_place(struct findings *findings, const json_t *pools)
{
	bool has_tpu = false;
	size_t used = 0, index;
	const json_t *pool;

	json_array_foreach((json_t *)pools, index, pool) {
		used += !pool_is_skipped(pool);
		has_tpu = has_tpu || pool_has_tpu(pool);
	}
	if (has_tpu && used > 1)
		findings_add(findings, "worker_pool_specs", "A job with a TPU has one worker pool only.");
}

void check_worker_pools(struct findings *findings, const json_t *pools,
			const struct aiplatform_settings *settings)
{
	size_t index;
	const json_t *pool;

	if (json_array_size(pools) == 0)
		findings_add(findings, "worker_pool_specs", "At least one worker pool must be specified.");
	if (json_array_size(pools) > ROLE_COUNT) {
		findings_add(findings, "worker_pool_specs",
			     "At most %d worker pools can be specified, not %zu.", ROLE_COUNT,
			     json_array_size(pools));
		return; /* more pools are not checked one by one, because that takes time */
	}
	json_array_foreach((json_t *)pools, index, pool) {
		const size_t length = findings_enter(findings, "worker_pool_specs");

		findings_enter_index(findings, index);
		if (index == 0 && pool_is_skipped(pool))
			findings_add(findings, NULL, "The first worker pool cannot be skipped.");
		else if (!pool_is_skipped(pool))
			check_pool(findings, pool, index, settings);
		findings_leave(findings, length);
		if (findings_enough(findings))
			return;
	}
	check_tpu_place(findings, pools);
}
