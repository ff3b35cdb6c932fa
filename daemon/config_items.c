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
#include "daemon/base/amount.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/config_listen.h"
#include "daemon/emulator_clock.h"
#include "daemon/gateway/host_routes.h"
#include "scheduler/engine/engine.h"
#include "scheduler/plan/host.h"

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

static bool host_name_valid(const char *value)
{
	enum { NAME_BYTES_MAX = 253 };
	const size_t length = strlen(value);

	return length && length <= NAME_BYTES_MAX && isalnum((unsigned char)value[0]) &&
	       strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == length;
}

static bool keep_valid(const char *value)
{
	int64_t us = 0;

	return duration_read(value, &us) && us > 0;
}

static bool size_valid(const char *value)
{
	int64_t bytes;

	return size_read(value, &bytes);
}

static bool path_valid(const char *value)
{
	return *value != '\0';
}

static bool engine_valid(const char *value)
{
	return engine_kind_of(value) != NULL;
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
	return home && *home == '/' ? memory_printf("%s/%s", home, below) : NULL;
}

/* Source: XDG Base Directory Specification 0.8: paths that are not absolute are ignored. */
char *state_dir_default(bool root, const char *xdg_state_home, const char *home)
{
	char *path;

	if (root)
		return memory_strdup("/var/lib/trainyard");
	path = path_below(xdg_state_home, "trainyard");
	return path ? path : path_below(home, ".local/state/trainyard");
}

static char *compute_state_dir(void)
{
	return state_dir_default(geteuid() == 0, getenv("XDG_STATE_HOME"), getenv("HOME"));
}

static char *compute_docker_config(void)
{
	const char *own = getenv("DOCKER_CONFIG");
	char *path = own && *own ? memory_strdup(own) : path_below(getenv("HOME"), ".docker");

	return path ? path : memory_strdup("/root/.docker");
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
	AUTO(json) json_t *object = json_parse_foreign(value, strlen(value), JSON_REJECT_DUPLICATES, NULL);

	return json_is_object(object);
}

static bool storage_endpoint_valid(const char *value)
{
	return endpoint_valid(value, "http://");
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

#define BOTH (CONFIG_SERVE | CONFIG_ENV)
#define ALL  (CONFIG_SERVE | CONFIG_ENV | CONFIG_CLEAN | CONFIG_STOP)

/* One row a type of option. EXPECTED is what VALID wants, in words. */
#define ITEM(TYPE, NAME, VARIABLE, FIELD, COMMANDS, HELP, ...)                                               \
	{                                                                                                    \
		.name = (NAME), .environment = (VARIABLE), .type = (TYPE),                                   \
		.offset = offsetof(struct config, FIELD), .commands = (COMMANDS), .help = (HELP),            \
		__VA_ARGS__                                                                                  \
	}
#define TEXT(NAME, VARIABLE, FIELD, COMMANDS, PLACEHOLDER, VALID, EXPECTED, HELP, ...)                       \
	ITEM(CONFIG_TEXT, NAME, VARIABLE, FIELD, COMMANDS, HELP, .placeholder = (PLACEHOLDER),               \
	     .valid = (VALID), .expected = (EXPECTED), ##__VA_ARGS__)
#define PATH(NAME, VARIABLE, FIELD, COMMANDS, PLACEHOLDER, EXPECTED, HELP, ...)                              \
	TEXT(NAME, VARIABLE, FIELD, COMMANDS, PLACEHOLDER, path_valid, EXPECTED, HELP, ##__VA_ARGS__)
#define LIST(NAME, VARIABLE, FIELD, PLACEHOLDER, VALID, EXPECTED, HELP, ...)                                 \
	ITEM(CONFIG_LIST, NAME, VARIABLE, FIELD, CONFIG_SERVE, HELP, .placeholder = (PLACEHOLDER),           \
	     .valid = (VALID), .expected = (EXPECTED), ##__VA_ARGS__)
#define NUMBER(NAME, VARIABLE, FIELD, PLACEHOLDER, OTHERWISE, MIN, MAX, HELP, ...)                           \
	ITEM(CONFIG_NUMBER, NAME, VARIABLE, FIELD, CONFIG_SERVE, HELP, .placeholder = (PLACEHOLDER),         \
	     .otherwise = (OTHERWISE), .min = (MIN), .max = (MAX), ##__VA_ARGS__)
#define CHOICE(NAME, VARIABLE, FIELD, PLACEHOLDER, OTHERWISE, CHOICES, HELP, ...)                            \
	ITEM(CONFIG_CHOICE, NAME, VARIABLE, FIELD, CONFIG_SERVE, HELP, .placeholder = (PLACEHOLDER),         \
	     .otherwise = (OTHERWISE), .choices = (CHOICES), ##__VA_ARGS__)
#define FLAG(NAME, VARIABLE, FIELD, HELP)                                                                    \
	ITEM(CONFIG_FLAG, NAME, VARIABLE, FIELD, CONFIG_SERVE, HELP, .otherwise = "false")

const struct config_item config_items[] = {
	PATH("config", "TRAINYARD_CONFIG", file, ALL, "FILE", "a path",
	     "read options from FILE: lines of \"name = value\", # starts a comment",
	     .group = "Where it serves"),
	TEXT("listen", "TRAINYARD_LISTEN", listen, BOTH, "ADDR:PORT|unix:/PATH", listen_or_path_valid,
	     "ADDR:PORT, such as 127.0.0.1:8090 or [::1]:0, or unix:/PATH of at most 107 bytes",
	     "where to serve; port 0 takes any free one; other addresses than loopback want --token-file",
	     .otherwise = "127.0.0.1:8090"),
	TEXT("grpc", "TRAINYARD_GRPC", grpc, BOTH, "ADDR:PORT", listen_valid,
	     "ADDR:PORT, such as 127.0.0.1:8091", "where to serve clients that speak gRPC"),
	PATH("token-file", "TRAINYARD_TOKEN_FILE", token_file, BOTH, "FILE", "a path",
	     "the token that every request must carry"),
	LIST("host-name", "TRAINYARD_HOST_NAME", host_names, "NAME", host_name_valid,
	     "a name such as trainyard.example",
	     "a host name that requests may come by; auto: those of the daemon's own container; may be repeated"),
	PATH("state-dir", "TRAINYARD_STATE_DIR", state_dir, ALL, "DIR", "a directory",
	     "where all state is kept", .compute = compute_state_dir, .group = "State and engine"),
	TEXT("engine", "TRAINYARD_ENGINE", engine, CONFIG_SERVE | CONFIG_CLEAN, "URL", engine_valid,
	     "unix:///PATH of at most 107 bytes, tcp://HOST:PORT, ssh://USER@HOST or context://NAME",
	     "where the container engine is: unix:///PATH, tcp://HOST:PORT, ssh://USER@HOST, or context://NAME of "
	     "Docker's contexts",
	     .compute = engine_url_default, .compute_from = "DOCKER_HOST or DOCKER_CONTEXT",
	     .advice = "give --engine, such as unix:///var/run/docker.sock"),
	PATH("docker-config", "TRAINYARD_DOCKER_CONFIG", docker_config, CONFIG_SERVE, "DIR", "a directory",
	     "where the registries' credentials are (config.json)", .compute = compute_docker_config),
	TEXT("networks", "TRAINYARD_NETWORKS", networks, CONFIG_SERVE, "CIDR", networks_valid,
	     "an IPv4 network of 8 to 24 bits, such as 10.213.0.0/16",
	     "the addresses that the jobs' networks are cut from", .otherwise = "10.213.0.0/16"),
	FLAG("offline", "TRAINYARD_OFFLINE", offline, "never pull an image: use those the engine has"),
	FLAG("stop-jobs", "TRAINYARD_STOP_JOBS", stop_jobs,
	     "stop running jobs at the end, rather than leave them running"),
	NUMBER("stop-grace", "TRAINYARD_STOP_GRACE", stop_grace_s, "SECONDS", "30", 0, 86400,
	       "how long a replica has between SIGTERM and SIGKILL"),
	TEXT("project", "TRAINYARD_PROJECT", project, BOTH, "ID", project_valid,
	     "a project id, such as local-project", "the project that clients are pointed to",
	     .otherwise = "local-project", .group = "Project"),
	NUMBER("project-number", "TRAINYARD_PROJECT_NUMBER", project_number, "N", "123456789012", 1,
	       INT64_MAX, "the same project's number"),
	TEXT("tenant-project", "TRAINYARD_TENANT_PROJECT", tenant_project, CONFIG_SERVE, "ID", project_valid,
	     "a project id, such as t1234567890-tp",
	     "the project that programs of Vertex AI's jobs find at the metadata server"),
	TEXT("region", "TRAINYARD_REGION", region, BOTH, "REGION", region_valid,
	     "a region, such as us-central1", "the region that clients are pointed to",
	     .otherwise = "us-central1"),
	NUMBER("max-active-jobs", "TRAINYARD_MAX_ACTIVE_JOBS", max_active_jobs, "N", "64", 1, 10000,
	       "how many jobs may run at once; more are queued", .group = "How much runs"),
	NUMBER("max-containers", "TRAINYARD_MAX_CONTAINERS", max_containers, "N", "128", 1, 10000,
	       "how many replicas all jobs may have at once; a job with more is refused"),
	NUMBER("max-vcpus", "TRAINYARD_MAX_VCPUS", max_vcpus, "N", "0", 0, 1000000,
	       "how many CPUs running jobs may have at once; 0: with --machine-fit cloud the host's, else "
	       "no limit"),
	NUMBER("max-memory", "TRAINYARD_MAX_MEMORY", max_memory_mib, "MIB", "0", 0, 1000000000,
	       "how much memory running jobs may have at once; 0: as with --max-vcpus"),
	CHOICE("machine-fit", "TRAINYARD_MACHINE_FIT", machine_fit, "HOW", "host", machine_fits,
	       "what limits a machine type sets: the cloud's size up to what the host has, the cloud's, or "
	       "none"),
	TEXT("gpus", "TRAINYARD_GPUS", gpus, CONFIG_SERVE, "WHICH", gpus_valid,
	     "auto, none, a number, or ids joined by commas, each of them once",
	     "the GPUs to give to replicas: those the engine tells of (auto), none, the first N, or ids "
	     "joined by commas",
	     .otherwise = "auto"),
	CHOICE("accelerators", "TRAINYARD_ACCELERATORS", accelerators, "POLICY", "pretend",
	       accelerator_policies, "what to do with a job that asks for more GPUs than there are"),
	TEXT("quota", "TRAINYARD_QUOTA", quota, CONFIG_SERVE, "LIST", quota_valid,
	     "a list such as create=60,read=300,vcpus=20,K80=2,V100=0",
	     "the quotas of each project: calls a minute, concurrent vCPUs, accelerators of a job"),
	CHOICE("validation", "TRAINYARD_VALIDATION", validation, "HOW", "strict", validations,
	       "whether unknown regions, machine types and runtime versions, retired accelerators and "
	       "persistent resources are refused",
	       .group = "What jobs are given"),
	CHOICE("single-replica-name", "TRAINYARD_SINGLE_REPLICA_NAME", single_replica_name, "NAME", "chief",
	       single_replica_names, "what CLUSTER_SPEC calls the only replica of a Vertex AI job"),
	LIST("image-map", "TRAINYARD_IMAGE_MAP", image_map, "FROM=TO", image_rule_valid,
	     "FROM=TO, such as gcr.io/p/train=train:dev or gcr.io/p/*=localhost:5000/*",
	     "run the image TO where a job names FROM; a * at FROM's end goes into TO's; may be repeated"),
	LIST("runtime", "TRAINYARD_RUNTIME", runtimes, "RUNTIME=IMAGE", runtime_rule_valid,
	     "VERSION[/PYTHON][/cpu|/gpu]=IMAGE, such as 2.11=trainyard-runtime or */3.7/gpu=mine:gpu",
	     "the image that Python packages of a runtime version run in; may be repeated"),
	PATH("wheels", "TRAINYARD_WHEELS", wheels, CONFIG_SERVE, "DIR", "a directory",
	     "where pip finds the packages that jobs depend on; nothing is then asked of the network"),
	TEXT("tpu-config", "TRAINYARD_TPU_CONFIG", tpu_config, CONFIG_SERVE, "JSON", tpu_config_valid,
	     "a JSON object", "the TPU_CONFIG that masters of jobs with a Cloud TPU are given"),
	PATH("adc", "TRAINYARD_ADC", adc, CONFIG_SERVE, "FILE", "a path",
	     "real credentials (application_default_credentials.json) that every replica may read"),
	CHOICE("buckets", "TRAINYARD_BUCKETS", buckets, "HOW", "auto", buckets,
	       "whether a bucket is made when it is first written to, or must be there",
	       .group = "Storage and network"),
	TEXT("storage-endpoint", "TRAINYARD_STORAGE_ENDPOINT", storage_endpoint, BOTH, "URL",
	     storage_endpoint_valid, "http://HOST:PORT",
	     "another emulator of Cloud Storage to use in the place of the built-in one"),
	CHOICE("egress", "TRAINYARD_EGRESS", egress, "HOW", "all", egresses,
	       "what replicas reach besides each other, storage and metadata"),
	LIST("route", "TRAINYARD_ROUTE", routes, "NAME=URL", host_route_valid,
	     "NAME=URL: a host below googleapis.com or *-REST for those of all regions, such as "
	     "bigquery.googleapis.com or *-aiplatform.googleapis.com, and http://HOST:PORT, https://HOST:PORT or self",
	     "lead jobs that call the Google host NAME to URL, or to this daemon (self); may be repeated"),
	PATH("faults", "TRAINYARD_FAULTS", faults, CONFIG_SERVE, "FILE", "a file",
	     "rules of faults that come over jobs and calls, as a list in JSON", .group = "Faults and time"),
	NUMBER("seed", "TRAINYARD_SEED", seed, "N", "0", 0, INT64_MAX,
	       "what probabilities of faults, and unless 0 ids, are drawn with: the same number, the same draws"),
	TEXT("clock", "TRAINYARD_CLOCK", clock, CONFIG_SERVE, "WHICH", emulator_clock_choice_valid,
	     "real, steppable, or steppable@TIME of the years 2000 to 2199, such as steppable@2026-01-31T12:00:00Z",
	     "real, or steppable[@TIME]: one that users can put forward, and that begins at TIME",
	     .otherwise = "real"),
	TEXT("keep", "TRAINYARD_KEEP", keep, CONFIG_SERVE, "TIME", keep_valid, "a time such as 30d or 12h",
	     "remove jobs that ended longer ago, with their logs; their objects stay (default: none is removed)",
	     .group = "What is kept"),
	TEXT("max-state", "TRAINYARD_MAX_STATE", max_state, CONFIG_SERVE, "SIZE", size_valid,
	     "a size such as 20G or 500M",
	     "remove the jobs that ended first while jobs and logs take more (default: no limit)"),
	CHOICE("log-level", "TRAINYARD_LOG_LEVEL", log_level, "LEVEL", "info", log_levels,
	       "the least that the daemon's own log shows", .group = "Its own log"),
	CHOICE("log-format", "TRAINYARD_LOG_FORMAT", log_format, "FORMAT", "text", log_formats,
	       "how it is written, on stderr"),
	{ .name = NULL },
};
