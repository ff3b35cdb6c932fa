/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/config_items.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/training/image_map.h"
#include "api/training/quota.h"
#include "api/training/runtime_map.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/emulator_clock.h"
#include "scheduler/host.h"

enum { UNIX_PATH_MAX_BYTES = 107 }; /* sun_path, without its NUL */

static bool listen_valid(const char *value)
{
	char address[LISTEN_ADDRESS_SIZE];
	uint16_t port;

	return config_listen_split(value, address, &port);
}

static bool listen_or_path_valid(const char *value)
{
	const char *path = config_listen_path(value);

	return path ? *path == '/' && strlen(path) <= UNIX_PATH_MAX_BYTES : listen_valid(value);
}

static bool path_valid(const char *value)
{
	return *value != '\0';
}

static bool engine_valid(const char *value)
{
	static const char scheme[] = "unix://";
	const char *path = value + strlen(scheme);

	return strncmp(value, scheme, strlen(scheme)) == 0 && *path == '/' &&
	       strlen(path) <= UNIX_PATH_MAX_BYTES;
}

/* Choice: wider than the service's own rule, which wants 6 to 30 characters, because made-up projects
 * are short; not wider than what clients put into a path. */
static bool project_valid(const char *value)
{
	const size_t length = strlen(value);

	return length <= 63 && islower((unsigned char)value[0]) &&
	       strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789-.:") == length &&
	       isalnum((unsigned char)value[length - 1]);
}

static bool region_valid(const char *value)
{
	const size_t length = strlen(value);

	return length > 0 && length <= 63 && islower((unsigned char)value[0]) &&
	       strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}

/* A /24 is room for few jobs, a /8 is all that is private. */
static bool networks_valid(const char *value)
{
	char address[INET_ADDRSTRLEN];
	struct in_addr network;
	const char *slash = strchr(value, '/');
	const char *bits = slash ? slash + 1 : "";
	const size_t digits = strlen(bits);
	unsigned long prefix;

	if (digits < 1 || digits > 2 || strspn(bits, "0123456789") != digits ||
	    (size_t)(slash - value) >= sizeof(address))
		return false;
	memcpy(address, value, (size_t)(slash - value));
	address[slash - value] = '\0';
	prefix = strtoul(bits, NULL, 10);
	if (prefix < 8 || prefix > 24 || inet_pton(AF_INET, address, &network) != 1)
		return false;
	return (ntohl(network.s_addr) & (0xffffffffu >> prefix)) == 0;
}

/* "@home/@below", or NULL when @home is no absolute path. */
static char *path_below(const char *home, const char *below)
{
	char *path = NULL;

	if (!home || *home != '/' || asprintf(&path, "%s/%s", home, below) < 0)
		return NULL;
	return path;
}

/* Source: XDG Base Directory Specification 0.8: paths that are not absolute are ignored. */
char *state_dir_default(bool root, const char *xdg_state_home, const char *home)
{
	char *path;

	if (root)
		return strdup("/var/lib/trainyard");
	path = path_below(xdg_state_home, "trainyard");
	return path ? path : path_below(home, ".local/state/trainyard");
}

char *engine_default(const char *docker_host)
{
	return strdup(docker_host && *docker_host ? docker_host : "unix:///var/run/docker.sock");
}

static char *compute_state_dir(void)
{
	return state_dir_default(geteuid() == 0, getenv("XDG_STATE_HOME"), getenv("HOME"));
}

static char *compute_engine(void)
{
	return engine_default(getenv("DOCKER_HOST"));
}

static char *compute_docker_config(void)
{
	const char *own = getenv("DOCKER_CONFIG");
	char *path = own && *own ? strdup(own) : path_below(getenv("HOME"), ".docker");

	return path ? path : strdup("/root/.docker");
}

static bool gpus_valid(const char *value)
{
	struct inventory inventory = { 0 };
	bool valid = !inventory_parse(value, &inventory, NULL);

	inventory_deinit(&inventory);
	return valid;
}

static bool quota_valid(const char *value)
{
	struct quota_limits limits;

	return !quota_parse(value, &limits, NULL);
}

static bool tpu_config_valid(const char *value)
{
	AUTO(json) json_t *object = memory_json_read(value, strlen(value), JSON_REJECT_DUPLICATES, NULL);

	return json_is_object(object);
}

static bool storage_endpoint_valid(const char *value)
{
	static const char scheme[] = "http://";
	const char *host = value + strlen(scheme);
	const char *colon = strncmp(value, scheme, strlen(scheme)) == 0 ? strrchr(host, ':') : NULL;
	const size_t digits = colon ? strlen(colon + 1) : 0;

	return colon && colon != host && digits >= 1 && digits <= 5 &&
	       strspn(colon + 1, "0123456789") == digits && strtoul(colon + 1, NULL, 10) - 1 < 65535 &&
	       strcspn(host, "/?#@") == strlen(host);
}

/* In the order of their enums. */
static const char *const validations[] = { "strict", "lenient", NULL };
static const char *const single_replica_names[] = { "chief", "workerpool0", NULL };
static const char *const buckets[] = { "auto", "strict", NULL };
static const char *const egresses[] = { "all", "none", NULL };
static const char *const machine_fits[] = { "host", "cloud", "none", NULL };
static const char *const accelerator_policies[] = { "pretend", "require", "wait", "share", NULL };
static const char *const log_levels[] = { "error", "warning", "info", "debug", NULL };
static const char *const log_formats[] = { "text", "json", NULL };

#define AT(field) .offset = offsetof(struct config, field)
#define BOTH      (CONFIG_SERVE | CONFIG_ENV)
#define ALL       (CONFIG_SERVE | CONFIG_ENV | CONFIG_CLEAN)

const struct config_item config_items[] = {
	{ .name = "config",
	  .environment = "TRAINYARD_CONFIG",
	  .type = CONFIG_TEXT,
	  AT(file),
	  .commands = ALL,
	  .placeholder = "FILE",
	  .valid = path_valid,
	  .expected = "a path",
	  .help = "read options from FILE: lines of \"name = value\", # starts a comment" },
	{ .name = "listen",
	  .environment = "TRAINYARD_LISTEN",
	  .type = CONFIG_TEXT,
	  AT(listen),
	  .commands = BOTH,
	  .placeholder = "ADDR:PORT|unix:/PATH",
	  .otherwise = "127.0.0.1:8090",
	  .valid = listen_or_path_valid,
	  .expected = "ADDR:PORT, such as 127.0.0.1:8090 or [::1]:0, or unix:/PATH of at most 107 bytes",
	  .help = "where to serve; port 0 takes any free one; other addresses than loopback want --token-file" },
	{ .name = "grpc",
	  .environment = "TRAINYARD_GRPC",
	  .type = CONFIG_TEXT,
	  AT(grpc),
	  .commands = BOTH,
	  .placeholder = "ADDR:PORT",
	  .valid = listen_valid,
	  .expected = "ADDR:PORT, such as 127.0.0.1:8091",
	  .help = "where to serve clients that speak gRPC" },
	{ .name = "token-file",
	  .environment = "TRAINYARD_TOKEN_FILE",
	  .type = CONFIG_TEXT,
	  AT(token_file),
	  .commands = BOTH,
	  .placeholder = "FILE",
	  .valid = path_valid,
	  .expected = "a path",
	  .help = "the token that every request must carry" },
	{ .name = "state-dir",
	  .environment = "TRAINYARD_STATE_DIR",
	  .type = CONFIG_TEXT,
	  AT(state_dir),
	  .commands = ALL,
	  .placeholder = "DIR",
	  .compute = compute_state_dir,
	  .valid = path_valid,
	  .expected = "a directory",
	  .help = "where all state is kept" },
	{ .name = "engine",
	  .environment = "TRAINYARD_ENGINE",
	  .type = CONFIG_TEXT,
	  AT(engine),
	  .commands = CONFIG_SERVE | CONFIG_CLEAN,
	  .placeholder = "unix:///PATH",
	  .compute = compute_engine,
	  .valid = engine_valid,
	  .expected = "unix:///PATH of at most 107 bytes",
	  .help = "the container engine's socket" },
	{ .name = "project",
	  .environment = "TRAINYARD_PROJECT",
	  .type = CONFIG_TEXT,
	  AT(project),
	  .commands = BOTH,
	  .placeholder = "ID",
	  .otherwise = "local-project",
	  .valid = project_valid,
	  .expected = "a project id, such as local-project",
	  .help = "the project that clients are pointed to" },
	{ .name = "project-number",
	  .environment = "TRAINYARD_PROJECT_NUMBER",
	  .type = CONFIG_NUMBER,
	  AT(project_number),
	  .commands = CONFIG_SERVE,
	  .placeholder = "N",
	  .otherwise = "123456789012",
	  .min = 1,
	  .max = INT64_MAX,
	  .help = "the same project's number" },
	{ .name = "region",
	  .environment = "TRAINYARD_REGION",
	  .type = CONFIG_TEXT,
	  AT(region),
	  .commands = BOTH,
	  .placeholder = "REGION",
	  .otherwise = "us-central1",
	  .valid = region_valid,
	  .expected = "a region, such as us-central1",
	  .help = "the region that clients are pointed to" },
	{ .name = "networks",
	  .environment = "TRAINYARD_NETWORKS",
	  .type = CONFIG_TEXT,
	  AT(networks),
	  .commands = CONFIG_SERVE,
	  .placeholder = "CIDR",
	  .otherwise = "10.213.0.0/16",
	  .valid = networks_valid,
	  .expected = "an IPv4 network of 8 to 24 bits, such as 10.213.0.0/16",
	  .help = "the addresses that the jobs' networks are cut from" },
	{ .name = "offline",
	  .environment = "TRAINYARD_OFFLINE",
	  .type = CONFIG_FLAG,
	  AT(offline),
	  .commands = CONFIG_SERVE,
	  .otherwise = "false",
	  .help = "never pull an image: use those the engine has" },
	{ .name = "stop-jobs",
	  .environment = "TRAINYARD_STOP_JOBS",
	  .type = CONFIG_FLAG,
	  AT(stop_jobs),
	  .commands = CONFIG_SERVE,
	  .otherwise = "false",
	  .help = "stop running jobs at the end, rather than leave them running" },
	{ .name = "stop-grace",
	  .environment = "TRAINYARD_STOP_GRACE",
	  .type = CONFIG_NUMBER,
	  AT(stop_grace_s),
	  .commands = CONFIG_SERVE,
	  .placeholder = "SECONDS",
	  .otherwise = "30",
	  .min = 0,
	  .max = 86400,
	  .help = "how long a replica has between SIGTERM and SIGKILL" },
	{ .name = "max-active-jobs",
	  .environment = "TRAINYARD_MAX_ACTIVE_JOBS",
	  .type = CONFIG_NUMBER,
	  AT(max_active_jobs),
	  .commands = CONFIG_SERVE,
	  .placeholder = "N",
	  .otherwise = "64",
	  .min = 1,
	  .max = 10000,
	  .help = "how many jobs may run at once; more are queued" },
	{ .name = "max-containers",
	  .environment = "TRAINYARD_MAX_CONTAINERS",
	  .type = CONFIG_NUMBER,
	  AT(max_containers),
	  .commands = CONFIG_SERVE,
	  .placeholder = "N",
	  .otherwise = "128",
	  .min = 1,
	  .max = 10000,
	  .help = "how many replicas all jobs may have at once; a job with more is refused" },
	{ .name = "max-vcpus",
	  .environment = "TRAINYARD_MAX_VCPUS",
	  .type = CONFIG_NUMBER,
	  AT(max_vcpus),
	  .commands = CONFIG_SERVE,
	  .placeholder = "N",
	  .otherwise = "0",
	  .min = 0,
	  .max = 1000000,
	  .help = "how many CPUs running jobs may have at once; 0: with --machine-fit cloud the host's, else "
		  "no limit" },
	{ .name = "max-memory",
	  .environment = "TRAINYARD_MAX_MEMORY",
	  .type = CONFIG_NUMBER,
	  AT(max_memory_mib),
	  .commands = CONFIG_SERVE,
	  .placeholder = "MIB",
	  .otherwise = "0",
	  .min = 0,
	  .max = 1000000000,
	  .help = "how much memory running jobs may have at once; 0: as with --max-vcpus" },
	{ .name = "machine-fit",
	  .environment = "TRAINYARD_MACHINE_FIT",
	  .type = CONFIG_CHOICE,
	  AT(machine_fit),
	  .commands = CONFIG_SERVE,
	  .placeholder = "HOW",
	  .otherwise = "host",
	  .choices = machine_fits,
	  .help = "what limits a machine type sets: the cloud's size up to what the host has, the cloud's, or "
		  "none" },
	{ .name = "gpus",
	  .environment = "TRAINYARD_GPUS",
	  .type = CONFIG_TEXT,
	  AT(gpus),
	  .commands = CONFIG_SERVE,
	  .placeholder = "WHICH",
	  .otherwise = "auto",
	  .valid = gpus_valid,
	  .expected = "auto, none, a number, or ids joined by commas",
	  .help = "the GPUs to give to replicas: those the engine tells of (auto), none, the first N, or ids "
		  "joined by commas" },
	{ .name = "accelerators",
	  .environment = "TRAINYARD_ACCELERATORS",
	  .type = CONFIG_CHOICE,
	  AT(accelerators),
	  .commands = CONFIG_SERVE,
	  .placeholder = "POLICY",
	  .otherwise = "pretend",
	  .choices = accelerator_policies,
	  .help = "what to do with a job that asks for more GPUs than there are" },
	{ .name = "validation",
	  .environment = "TRAINYARD_VALIDATION",
	  .type = CONFIG_CHOICE,
	  AT(validation),
	  .commands = CONFIG_SERVE,
	  .placeholder = "HOW",
	  .otherwise = "strict",
	  .choices = validations,
	  .help = "whether unknown regions, machine types and runtime versions, retired accelerators and persistent "
		  "resources are refused" },
	{ .name = "single-replica-name",
	  .environment = "TRAINYARD_SINGLE_REPLICA_NAME",
	  .type = CONFIG_CHOICE,
	  AT(single_replica_name),
	  .commands = CONFIG_SERVE,
	  .placeholder = "NAME",
	  .otherwise = "chief",
	  .choices = single_replica_names,
	  .help = "what CLUSTER_SPEC calls the only replica of a Vertex AI job" },
	{ .name = "quota",
	  .environment = "TRAINYARD_QUOTA",
	  .type = CONFIG_TEXT,
	  AT(quota),
	  .commands = CONFIG_SERVE,
	  .placeholder = "LIST",
	  .valid = quota_valid,
	  .expected = "a list such as create=60,read=300,vcpus=20,K80=2,V100=0",
	  .help = "the quotas of each project: calls a minute, concurrent vCPUs, accelerators of a job" },
	{ .name = "image-map",
	  .environment = "TRAINYARD_IMAGE_MAP",
	  .type = CONFIG_LIST,
	  AT(image_map),
	  .commands = CONFIG_SERVE,
	  .placeholder = "FROM=TO",
	  .valid = image_rule_valid,
	  .expected = "FROM=TO, such as gcr.io/p/train=train:dev or gcr.io/p/*=localhost:5000/*",
	  .help = "run the image TO where a job names FROM; a * at FROM's end goes into TO's; may be repeated" },
	{ .name = "tpu-config",
	  .environment = "TRAINYARD_TPU_CONFIG",
	  .type = CONFIG_TEXT,
	  AT(tpu_config),
	  .commands = CONFIG_SERVE,
	  .placeholder = "JSON",
	  .valid = tpu_config_valid,
	  .expected = "a JSON object",
	  .help = "the TPU_CONFIG that masters of jobs with a Cloud TPU are given" },
	{ .name = "buckets",
	  .environment = "TRAINYARD_BUCKETS",
	  .type = CONFIG_CHOICE,
	  AT(buckets),
	  .commands = CONFIG_SERVE,
	  .placeholder = "HOW",
	  .otherwise = "auto",
	  .choices = buckets,
	  .help = "whether a bucket is made when it is first written to, or must be there" },
	{ .name = "storage-endpoint",
	  .environment = "TRAINYARD_STORAGE_ENDPOINT",
	  .type = CONFIG_TEXT,
	  AT(storage_endpoint),
	  .commands = BOTH,
	  .placeholder = "URL",
	  .valid = storage_endpoint_valid,
	  .expected = "http://HOST:PORT",
	  .help = "another emulator of Cloud Storage to use in the place of the built-in one" },
	{ .name = "egress",
	  .environment = "TRAINYARD_EGRESS",
	  .type = CONFIG_CHOICE,
	  AT(egress),
	  .commands = CONFIG_SERVE,
	  .placeholder = "HOW",
	  .otherwise = "all",
	  .choices = egresses,
	  .help = "what replicas reach besides each other, storage and metadata" },
	{ .name = "adc",
	  .environment = "TRAINYARD_ADC",
	  .type = CONFIG_TEXT,
	  AT(adc),
	  .commands = CONFIG_SERVE,
	  .placeholder = "FILE",
	  .valid = path_valid,
	  .expected = "a path",
	  .help = "real credentials (application_default_credentials.json) that every replica may read" },
	{ .name = "runtime",
	  .environment = "TRAINYARD_RUNTIME",
	  .type = CONFIG_LIST,
	  AT(runtimes),
	  .commands = CONFIG_SERVE,
	  .placeholder = "RUNTIME=IMAGE",
	  .valid = runtime_rule_valid,
	  .expected =
		  "VERSION[/PYTHON][/cpu|/gpu]=IMAGE, such as 2.11=trainyard-runtime or */3.7/gpu=mine:gpu",
	  .help = "the image that Python packages of a runtime version run in; may be repeated" },
	{ .name = "wheels",
	  .environment = "TRAINYARD_WHEELS",
	  .type = CONFIG_TEXT,
	  AT(wheels),
	  .commands = CONFIG_SERVE,
	  .placeholder = "DIR",
	  .valid = path_valid,
	  .expected = "a directory",
	  .help = "where pip finds the packages that jobs depend on; nothing is then asked of the network" },
	{ .name = "faults",
	  .environment = "TRAINYARD_FAULTS",
	  .type = CONFIG_TEXT,
	  AT(faults),
	  .commands = CONFIG_SERVE,
	  .placeholder = "FILE",
	  .valid = path_valid,
	  .expected = "a file",
	  .help = "rules of faults that come over jobs and calls, as a list in JSON" },
	{ .name = "seed",
	  .environment = "TRAINYARD_SEED",
	  .type = CONFIG_NUMBER,
	  AT(seed),
	  .commands = CONFIG_SERVE,
	  .placeholder = "N",
	  .otherwise = "0",
	  .min = 0,
	  .max = INT64_MAX,
	  .help = "what probabilities of faults, and unless 0 ids, are drawn with: the same number, the same draws" },
	{ .name = "clock",
	  .environment = "TRAINYARD_CLOCK",
	  .type = CONFIG_TEXT,
	  AT(clock),
	  .commands = CONFIG_SERVE,
	  .placeholder = "WHICH",
	  .otherwise = "real",
	  .valid = emulator_clock_choice_valid,
	  .expected = "real, steppable, or steppable@TIME, such as steppable@2026-01-31T12:00:00Z",
	  .help = "real, or steppable[@TIME]: one that users can put forward, and that begins at TIME" },
	{ .name = "log-level",
	  .environment = "TRAINYARD_LOG_LEVEL",
	  .type = CONFIG_CHOICE,
	  AT(log_level),
	  .commands = CONFIG_SERVE,
	  .placeholder = "LEVEL",
	  .otherwise = "info",
	  .choices = log_levels,
	  .help = "the least that the daemon's own log shows" },
	{ .name = "log-format",
	  .environment = "TRAINYARD_LOG_FORMAT",
	  .type = CONFIG_CHOICE,
	  AT(log_format),
	  .commands = CONFIG_SERVE,
	  .placeholder = "FORMAT",
	  .otherwise = "text",
	  .choices = log_formats,
	  .help = "how it is written, on stderr" },
	{ .name = "docker-config",
	  .environment = "TRAINYARD_DOCKER_CONFIG",
	  .type = CONFIG_TEXT,
	  AT(docker_config),
	  .commands = CONFIG_SERVE,
	  .placeholder = "DIR",
	  .compute = compute_docker_config,
	  .valid = path_valid,
	  .expected = "a directory",
	  .help = "where the registries' credentials are (config.json)" },
	{ .name = NULL },
};
