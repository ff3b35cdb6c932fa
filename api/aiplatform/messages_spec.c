/* SPDX-License-Identifier: Apache-2.0 */
/* The message CustomJobSpec and the messages in it. */
#include "api/aiplatform/field_rows.h"
#include "api/aiplatform/messages.h"

#define OF(NAME) "google.cloud.aiplatform.v1." NAME

static const struct enum_value accelerator_type_values[] = {
	{ "ACCELERATOR_TYPE_UNSPECIFIED", 0, "No accelerator." },
	{ "NVIDIA_TESLA_K80", 1, "Nvidia K80 GPU, which the service no longer has." },
	{ "NVIDIA_TESLA_P100", 2, "Nvidia P100 GPU." },
	{ "NVIDIA_TESLA_V100", 3, "Nvidia V100 GPU." },
	{ "NVIDIA_TESLA_P4", 4, "Nvidia P4 GPU." },
	{ "NVIDIA_TESLA_T4", 5, "Nvidia T4 GPU." },
	{ "TPU_V2", 6, "Cloud TPU v2." },
	{ "TPU_V3", 7, "Cloud TPU v3." },
	{ "NVIDIA_TESLA_A100", 8, "Nvidia A100 GPU with 40 GB." },
	{ "NVIDIA_A100_80GB", 9, "Nvidia A100 GPU with 80 GB." },
	{ "TPU_V4_POD", 10, "A slice of a Cloud TPU v4 pod." },
	{ "NVIDIA_L4", 11, "Nvidia L4 GPU." },
	{ "TPU_V5_LITEPOD", 12, "A slice of a Cloud TPU v5e pod." },
	{ "NVIDIA_H100_80GB", 13, "Nvidia H100 GPU." },
	{ "NVIDIA_H100_MEGA_80GB", 14, "Nvidia H100 GPU of an a3-megagpu machine." },
	{ "NVIDIA_H200_141GB", 15, "Nvidia H200 GPU." },
	{ "NVIDIA_B200", 16, "Nvidia B200 GPU." },
	{ "NVIDIA_GB200", 17, "Nvidia GB200 GPU." },
	{ "NVIDIA_RTX_PRO_6000", 18, "Nvidia RTX PRO 6000 GPU." },
	END_OF_VALUES,
};
const struct enum_type aiplatform_accelerator_type = { OF("AcceleratorType"), accelerator_type_values };

static const struct enum_value affinity_values[] = {
	{ "TYPE_UNSPECIFIED", 0, "Not specified." },
	{ "NO_RESERVATION", 1, "Uses no reservation." },
	{ "ANY_RESERVATION", 2, "Uses whichever reservation fits." },
	{ "SPECIFIC_RESERVATION", 3, "Uses the reservations that are named." },
	END_OF_VALUES,
};
static const struct enum_type affinity = { OF("ReservationAffinity.Type"), affinity_values };

static const struct field reservation_affinity_fields[] = {
	ENUM(1, "reservationAffinityType", affinity, REQUIRED, "Which reservations may be used."),
	FIELD(2, "key", STRING, 0, "compute.googleapis.com/reservation-name, with SPECIFIC_RESERVATION."),
	FIELD(3, "values", STRING, REPEATED, "The names of reservations, with SPECIFIC_RESERVATION."),
	END_OF_FIELDS,
};
static const struct message reservation_affinity = { OF("ReservationAffinity"), reservation_affinity_fields,
						     "Reserved capacity to use; without effect." };

static const struct field machine_spec_fields[] = {
	FIELD(1, "machineType", STRING, IMMUTABLE, "n1-standard-4 and its like."),
	ENUM(2, "acceleratorType", aiplatform_accelerator_type, IMMUTABLE,
	     "Which accelerators each machine has."),
	FIELD(3, "acceleratorCount", INT32, 0, "How many of them."),
	FIELD(4, "tpuTopology", STRING, IMMUTABLE, "How TPU chips are arranged: 2x2."),
	MESSAGE(5, "reservationAffinity", reservation_affinity, IMMUTABLE,
		"Reserved capacity to use; without effect."),
	FIELD(7, "gpuPartitionSize", STRING, IMMUTABLE,
	      "Into which parts each GPU is split: 1g.10gb; without effect."),
	END_OF_FIELDS,
};
static const struct message machine_spec = { OF("MachineSpec"), machine_spec_fields,
					     "The machine of each replica of a pool." };

static const struct field disk_spec_fields[] = {
	FIELD(1, "bootDiskType", STRING, 0, "pd-ssd (unless given), pd-standard or hyperdisk-balanced."),
	FIELD(2, "bootDiskSizeGb", INT32, 0, "100 (unless given) to 64000."),
	END_OF_FIELDS,
};
static const struct message disk_spec = { OF("DiskSpec"), disk_spec_fields,
					  "The boot disk of each replica of a pool; without effect." };

static const struct field nfs_mount_fields[] = {
	FIELD(1, "server", STRING, REQUIRED, "The server's address."),
	FIELD(2, "path", STRING, REQUIRED, "What it exports: begins with a slash."),
	FIELD(3, "mountPoint", STRING, REQUIRED, "Below /mnt/nfs/ in the replicas."),
	END_OF_FIELDS,
};
static const struct message nfs_mount = { OF("NfsMount"), nfs_mount_fields,
					  "A directory of an NFS server; known so that it can be refused." };

static const struct field lustre_mount_fields[] = {
	FIELD(1, "instanceIp", STRING, REQUIRED, "The instance's address."),
	FIELD(2, "volumeHandle", STRING, REQUIRED, "The instance's volume."),
	FIELD(3, "filesystem", STRING, REQUIRED, "The file system's name."),
	FIELD(4, "mountPoint", STRING, REQUIRED, "Below /mnt/lustre/ in the replicas."),
	END_OF_FIELDS,
};
static const struct message lustre_mount = { OF("LustreMount"), lustre_mount_fields,
					     "A Lustre file system; known so that it can be refused." };

static const struct field env_var_fields[] = {
	FIELD(1, "name", STRING, REQUIRED, "Letters, digits and underscores, no digit first."),
	FIELD(2, "value", STRING, REQUIRED,
	      "$(NAME) in it stands for the value of a variable that is known before it; $$ for a dollar."),
	END_OF_FIELDS,
};
const struct message aiplatform_env_var = { OF("EnvVar"), env_var_fields, "A variable of the environment." };

static const struct field container_spec_fields[] = {
	FIELD(1, "imageUri", STRING, REQUIRED, "The image to run."),
	FIELD(2, "command", STRING, REPEATED, "Replaces the image's ENTRYPOINT."),
	FIELD(3, "args", STRING, REPEATED, "Replaces the image's CMD."),
	MESSAGE(4, "env", aiplatform_env_var, REPEATED, "More environment, at most 100."),
	END_OF_FIELDS,
};
static const struct message container_spec = { OF("ContainerSpec"), container_spec_fields,
					       "A container of the client's own." };

static const struct field python_package_spec_fields[] = {
	FIELD(1, "executorImageUri", STRING, REQUIRED, "The image in which the packages are installed."),
	FIELD(2, "packageUris", STRING, REPEATED | REQUIRED, "gs:// names of the packages, at most 100."),
	FIELD(3, "pythonModule", STRING, REQUIRED, "The module to run then."),
	FIELD(4, "args", STRING, REPEATED, "The module's arguments."),
	MESSAGE(5, "env", aiplatform_env_var, REPEATED, "More environment, at most 100."),
	END_OF_FIELDS,
};
static const struct message python_package_spec = { OF("PythonPackageSpec"), python_package_spec_fields,
						    "Python packages in a prepared image." };

static const struct field worker_pool_spec_fields[] = {
	MESSAGE(1, "machineSpec", machine_spec, IMMUTABLE, "The machine of each replica."),
	FIELD(2, "replicaCount", INT64, 0, "How many replicas; exactly 1 in the first pool."),
	MESSAGE(4, "nfsMounts", nfs_mount, REPEATED, "Known so that they can be refused."),
	MESSAGE(5, "diskSpec", disk_spec, 0, "The boot disk; without effect."),
	CHOICE("task", 6, "containerSpec", container_spec, 0, "The container to run, or"),
	CHOICE("task", 7, "pythonPackageSpec", python_package_spec, 0, "the Python packages to run."),
	MESSAGE(9, "lustreMounts", lustre_mount, REPEATED, "Known so that they can be refused."),
	END_OF_FIELDS,
};
static const struct message worker_pool_spec = { OF("WorkerPoolSpec"), worker_pool_spec_fields,
						 "What the replicas of a pool run, and on what." };

static const struct enum_value strategy_values[] = {
	{ "STRATEGY_UNSPECIFIED", 0, "The same as STANDARD." },
	{ "ON_DEMAND", 1, "An old name of STANDARD." },
	{ "LOW_COST", 2, "An old name of SPOT." },
	{ "STANDARD", 3, "Machines that stay until the job ends." },
	{ "SPOT", 4, "Preemptible machines." },
	{ "FLEX_START", 6, "Waits for capacity, for up to maxWaitDuration." },
	END_OF_VALUES,
};
const struct enum_type aiplatform_strategy = { OF("Scheduling.Strategy"), strategy_values };

static const struct field scheduling_fields[] = {
	FIELD(1, "timeout", DURATION, 0,
	      "How long the job may run before it is cancelled; 7 days unless given."),
	FIELD(3, "restartJobOnWorkerRestart", BOOL, 0,
	      "Restart the whole job when one replica had to be restarted."),
	ENUM(4, "strategy", aiplatform_strategy, 0,
	     "How capacity is got: with SPOT a lost replica restarts the whole job, FLEX_START waits."),
	FIELD(5, "disableRetries", BOOL, 0, "Try the job never again once it was running."),
	FIELD(6, "maxWaitDuration", DURATION, 0,
	      "With FLEX_START: how long to wait for capacity; a day unless given, 0s: for ever."),
	END_OF_FIELDS,
};
static const struct message scheduling = { OF("Scheduling"), scheduling_fields,
					   "Limits and order of the job." };

static const struct field gcs_destination_fields[] = {
	FIELD(1, "outputUriPrefix", STRING, REQUIRED, "gs://BUCKET/DIRECTORY; a slash at its end is added."),
	END_OF_FIELDS,
};
const struct message aiplatform_gcs_destination = { OF("GcsDestination"), gcs_destination_fields,
						    "A place in Cloud Storage." };

static const struct field dns_peering_config_fields[] = {
	FIELD(1, "domain", STRING, REQUIRED, "A suffix of names, with a dot at its end."),
	FIELD(2, "targetProject", STRING, REQUIRED, "The project of the network."),
	FIELD(3, "targetNetwork", STRING, REQUIRED, "The network that resolves the names."),
	END_OF_FIELDS,
};
static const struct message dns_peering_config = { OF("DnsPeeringConfig"), dns_peering_config_fields,
						   "Names that another network resolves; without effect." };

static const struct field psc_interface_config_fields[] = {
	FIELD(1, "networkAttachment", STRING, 0,
	      "projects/P/regions/R/networkAttachments/NAME, or its name alone."),
	MESSAGE(2, "dnsPeeringConfigs", dns_peering_config, REPEATED, "Names that other networks resolve."),
	END_OF_FIELDS,
};
static const struct message psc_interface_config = { OF("PscInterfaceConfig"), psc_interface_config_fields,
						     "Private Service Connect; without effect." };

static const struct field custom_job_spec_fields[] = {
	MESSAGE(1, "workerPoolSpecs", worker_pool_spec, REPEATED | REQUIRED,
		"The pools: primary replica, workers, parameter servers or reducers, evaluators."),
	MESSAGE(3, "scheduling", scheduling, 0, "Limits and order of the job."),
	FIELD(4, "serviceAccount", STRING, 0,
	      "E-mail of an account; without effect on what the program may do."),
	FIELD(5, "network", STRING, 0,
	      "The VPC network to peer with, projects/NUMBER/global/networks/NAME; without effect."),
	MESSAGE(6, "baseOutputDirectory", aiplatform_gcs_destination, 0,
		"Where the output goes: AIP_MODEL_DIR and its like are below it."),
	FIELD(7, "tensorboard", STRING, 0,
	      "projects/P/locations/L/tensorboards/ID; without effect but for AIP_TENSORBOARD_RESOURCE_NAME."),
	FIELD(10, "enableWebAccess", BOOL, 0, "Allow interactive shells in the containers."),
	FIELD(13, "reservedIpRanges", STRING, REPEATED, "Ranges of the network to use; without effect."),
	FIELD(14, "persistentResourceId", STRING, 0,
	      "The persistent resource to run on; refused, or without effect with lenient validation."),
	FIELD(16, "enableDashboardAccess", BOOL, 0,
	      "A dashboard of the primary replica; without effect but for AIP_DASHBOARD_PORT."),
	FIELD(17, "experiment", STRING, 0, "The experiment that the job belongs to; without effect."),
	FIELD(18, "experimentRun", STRING, 0, "The run of the experiment; without effect."),
	FIELD(19, "protectedArtifactLocationId", STRING, 0,
	      "Where protected artifacts are stored; without effect."),
	FIELD(20, "models", STRING, REPEATED, "Models that checkpoints are made for; without effect."),
	MESSAGE(21, "pscInterfaceConfig", psc_interface_config, 0,
		"Private Service Connect; without effect."),
	END_OF_FIELDS,
};
const struct message aiplatform_custom_job_spec = { OF("CustomJobSpec"), custom_job_spec_fields,
						    "What to run, and on which machines." };
