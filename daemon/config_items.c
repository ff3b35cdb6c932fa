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
#include "daemon/nodes.h"
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
	return strcmp(value, ENGINE_SWARM) == 0 || engine_kind_of(value) != NULL;
}

/* Choice: accepts more than the service, which requires 6 to 30 characters, because made-up projects have short names;
 * but only what clients can put into a path. */
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

/* Accepts a private network from /8 to /24: a /24 has room for a few jobs, and a /8 is the largest private network. */
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

/* Returns "@home/@below"; NULL: @home is not an absolute path. */
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

static enum status quota_check(const char *value, struct error *err)
{
	struct quota_limits limits;

	return quota_parse(value, &limits, err);
}

static bool quota_valid(const char *value)
{
	return !quota_check(value, NULL);
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

/* The words of the choices; each array is in the order of its enum. */
static const char *const validations[] = { "strict", "lenient", NULL };
static const char *const single_replica_names[] = { "chief", "workerpool0", NULL };
static const char *const buckets[] = { "auto", "strict", NULL };
static const char *const egresses[] = { "all", "none", NULL };
static const char *const job_networks[] = { "bridges", "overlays", "plain-overlays", NULL };
static const char *const machine_fits[] = { "host", "cloud", "none", NULL };
static const char *const accelerator_policies[] = { "pretend", "require", "wait", "share", NULL };
static const char *const log_levels[] = { "error", "warning", "info", "debug", NULL };
static const char *const log_formats[] = { "text", "json", NULL };

#define BOTH (CONFIG_SERVE | CONFIG_ENV)
#define ALL  (CONFIG_SERVE | CONFIG_ENV | CONFIG_CLEAN | CONFIG_STOP)

/* The next macros make one row for each type of option. EXPECTED says in words which values VALID accepts. */
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
	     .otherwise = "127.0.0.1:8090", .synonyms = "port",
	     .detail = "A socket at a path has mode 0600, and is removed at the end."),
	TEXT("grpc", "TRAINYARD_GRPC", grpc, BOTH, "ADDR:PORT", listen_valid,
	     "ADDR:PORT, such as 127.0.0.1:8091", "where to serve clients that speak gRPC",
	     .detail = "With TLS (a certificate for `localhost`) and without TLS, where tokens travel in "
		       "clear. Port 0 takes any free one, which `/healthz` shows. Clients have to trust "
		       "`local-ca/bundle.crt` of the state directory; with this option `env` points them to "
		       "it.",
	     .default_words = "not served", .page = "vertex-ai.md"),
	PATH("token-file", "TRAINYARD_TOKEN_FILE", token_file, BOTH, "FILE", "a path",
	     "the token that every request must carry",
	     .detail = "By HTTP and by gRPC, as `Authorization: Bearer` or `x-goog-api-key`. One line of 16 "
		       "to 1024 letters, digits and `-._~+/=`, read once at the start. Without this option, "
		       "`TRAINYARD_TOKEN` holds the token itself. With a token, a state directory is refused "
		       "that belongs to another user, that others may write, that has files of another user, "
		       "or that is below a directory which another user owns or may write (without its "
		       "sticky bit).",
	     .default_words = "no token", .page = "authentication.md"),
	LIST("host-name", "TRAINYARD_HOST_NAME", host_names, "NAME", host_name_valid,
	     "a name such as trainyard.example",
	     "a host name under which clients may call; auto: those of the daemon's own container; may be "
	     "repeated",
	     .detail = "Besides `localhost` and the address itself. `auto` stands for the machine's own name "
		       "and, if the daemon is in a container of the engine, for that container's name and "
		       "its aliases in networks (its service name in a compose file)."),
	PATH("state-dir", "TRAINYARD_STATE_DIR", state_dir, ALL, "DIR", "a directory",
	     "where all state is kept", .compute = compute_state_dir, .group = "State and engine",
	     .synonyms = "keep-state",
	     .detail = "Removing it resets everything. Jobs are given files of it: as mounts where the "
		       "engine's machine has it at the same path, which is found out at each connection, "
		       "else as copies.",
	     .default_words =
		     "`/var/lib/trainyard` for root, else `trainyard` below `XDG_STATE_HOME` (`~/.local/state`)"),
	TEXT("engine", "TRAINYARD_ENGINE", engine, CONFIG_SERVE | CONFIG_CLEAN, "URL", engine_valid,
	     "unix:///PATH of at most 107 bytes, tcp://HOST:PORT, ssh://USER@HOST, context://NAME or swarm",
	     "where the container engine is: unix:///PATH, tcp://HOST:PORT, ssh://USER@HOST, context://NAME of "
	     "Docker's contexts, or swarm: that of the default, and all nodes of its swarm",
	     .compute = engine_url_default, .compute_from = "DOCKER_HOST or DOCKER_CONTEXT",
	     .advice = "give --engine, such as unix:///var/run/docker.sock",
	     .detail = "TLS is used for `tcp://` as Docker's clients use it: with `DOCKER_TLS_VERIFY`, "
		       "`DOCKER_TLS` or `DOCKER_CERT_PATH`. `ssh://` runs `docker system dial-stdio` there. "
		       "With `swarm`, the default engine is a manager of a swarm that `trainyard swarm up` has given "
		       "agents; each other node counts as if `--node` named it.",
	     .default_words =
		     "`DOCKER_HOST`, else the context that `DOCKER_CONTEXT` or `~/.docker/config.json` names, else `unix:///var/run/docker.sock`",
	     .page = "engines.md"),
	ITEM(CONFIG_LIST, "node", "TRAINYARD_NODE", nodes, CONFIG_SERVE | CONFIG_CLEAN,
	     "run jobs on the engine at URL too, as the node NAME; may be repeated",
	     .placeholder = "NAME=URL", .valid = node_rule_valid,
	     .expected =
		     "NAME=URL, such as gpu1=ssh://me@gpu1.example: a name of lowercase letters, digits and hyphens "
		     "(but main, which --engine is), and a URL as --engine takes it",
	     .detail = "`main` is the engine of `--engine`. A job is placed on one node as a whole if it fits there, and "
		       "else on several if `--job-networks` lets it. `--max-active-jobs`, `--max-containers`, `--max-vcpus`, `--max-memory` and "
		       "`--machine-fit` hold for each node by itself.",
	     .default_words = "jobs run on the engine of `--engine` alone", .page = "many-machines.md"),
	LIST("node-gpus", "TRAINYARD_NODE_GPUS", node_gpus, "NAME=WHICH", node_gpus_rule_valid,
	     "NAME=WHICH, such as gpu1=4 or gpu1=GPU-8a5+GPU-9b6",
	     "the GPUs of a node of --node: auto, none, the first N, or ids joined by +; may be repeated",
	     .detail = "As `--gpus`, which is about `main`.", .default_words = "`auto` for each node",
	     .page = "many-machines.md"),
	LIST("node-label", "TRAINYARD_NODE_LABEL", node_labels, "NAME=LABEL:VALUE", node_label_rule_valid,
	     "NAME=LABEL:VALUE, such as gpu1=gpu:a100",
	     "a label of a node, or of main, for --place; may be repeated", .default_words = "no labels",
	     .page = "many-machines.md"),
	LIST("place", "TRAINYARD_PLACE", place, "WHAT=LABEL:VALUE", place_rule_valid,
	     "WHAT=LABEL:VALUE, such as a2-highgpu-1g=gpu:a100 or ps=node:main",
	     "jobs with this machine type or role run only on nodes with the label; may be repeated",
	     .detail = "Roles are master, worker, ps and evaluator. The label `node` is the node's name. A job that no "
		       "node may run is refused.",
	     .default_words = "any job on any node", .page = "many-machines.md"),
	NUMBER("node-patience", "TRAINYARD_NODE_PATIENCE", node_patience_s, "SECONDS", "60", 0, 86400,
	       "how long a node's engine may not answer before its jobs go on elsewhere; 0: they wait for it",
	       .detail = "The replicas there are then lost, and their jobs are tried again on other nodes.",
	       .page = "many-machines.md#when-a-node-goes-away"),
	CHOICE("job-networks", "TRAINYARD_JOB_NETWORKS", job_networks, "HOW", "bridges", job_networks,
	       "where a job's replicas meet: bridges of one node, or overlays of a Docker Swarm over all nodes",
	       .detail = "With `overlays` the engine of `--engine` is a manager of the swarm, and those of `--node` are "
			 "its other nodes. It makes the network of each job, and a job that is larger than a node "
			 "is spread over several. What goes to other nodes is encrypted by their kernels (ESP); with "
			 "`plain-overlays` it is not. Without `--node` it has no effect.",
	       .page = "many-machines.md"),
	PATH("docker-config", "TRAINYARD_DOCKER_CONFIG", docker_config, CONFIG_SERVE, "DIR", "a directory",
	     "where the registries' credentials are (config.json)", .compute = compute_docker_config,
	     .default_words = "`DOCKER_CONFIG`, else `~/.docker`"),
	TEXT("networks", "TRAINYARD_NETWORKS", networks, CONFIG_SERVE, "CIDR", networks_valid,
	     "an IPv4 network of 8 to 24 bits, such as 10.213.0.0/16",
	     "the block of addresses from which each job's network gets a part", .otherwise = "10.213.0.0/16"),
	FLAG("offline", "TRAINYARD_OFFLINE", offline, "never pull an image: use those the engine has"),
	FLAG("stop-jobs", "TRAINYARD_STOP_JOBS", stop_jobs,
	     "stop running jobs at the end, rather than leave them running"),
	NUMBER("stop-grace", "TRAINYARD_STOP_GRACE", stop_grace_s, "SECONDS", "30", 0, 86400,
	       "how long a replica has between SIGTERM and SIGKILL"),
	TEXT("project", "TRAINYARD_PROJECT", project, BOTH, "ID", project_valid,
	     "a project id, such as local-project", "the project that clients are pointed to",
	     .otherwise = "local-project", .group = "Project", .detail = "Other projects work too."),
	NUMBER("project-number", "TRAINYARD_PROJECT_NUMBER", project_number, "N", "123456789012", 1,
	       INT64_MAX, "the same project's number"),
	TEXT("tenant-project", "TRAINYARD_TENANT_PROJECT", tenant_project, CONFIG_SERVE, "ID", project_valid,
	     "a project id, such as t1234567890-tp",
	     "the project that programs of Vertex AI's jobs find at the metadata server",
	     .detail = "In the cloud it is one of Google's own projects and not the user's.",
	     .page = "differences-from-the-cloud.md"),
	TEXT("region", "TRAINYARD_REGION", region, BOTH, "REGION", region_valid,
	     "a region, such as us-central1", "the region that clients are pointed to",
	     .otherwise = "us-central1"),
	NUMBER("max-active-jobs", "TRAINYARD_MAX_ACTIVE_JOBS", max_active_jobs, "N", "64", 1, 10000,
	       "how many jobs may run at once; more are queued", .group = "How much runs"),
	NUMBER("max-containers", "TRAINYARD_MAX_CONTAINERS", max_containers, "N", "128", 1, 10000,
	       "how many replicas all jobs may have at once; a job with more is refused",
	       .detail = "More are queued."),
	NUMBER("max-vcpus", "TRAINYARD_MAX_VCPUS", max_vcpus, "N", "0", 0, 1000000,
	       "how many CPUs running jobs may have at once; 0: with --machine-fit cloud the host's, else "
	       "no limit",
	       .detail = "They are counted as `--machine-fit` counts them; more are queued."),
	NUMBER("max-memory", "TRAINYARD_MAX_MEMORY", max_memory_mib, "MIB", "0", 0, 1000000000,
	       "how much memory running jobs may have at once; 0: as with --max-vcpus"),
	CHOICE("machine-fit", "TRAINYARD_MACHINE_FIT", machine_fit, "HOW", "host", machine_fits,
	       "what limits a machine type sets: the cloud's size up to what the host has, the cloud's, or "
	       "none",
	       .detail = "`host`: the cloud's size up to the host's CPUs and nine tenths of its memory, for "
			 "each replica by itself, so that every job runs. `cloud`: the cloud's size, so that "
			 "jobs wait while the host is full, and a job that the host cannot hold is refused. "
			 "`none`: no limits.",
	       .page = "gpus-and-queue.md"),
	TEXT("gpus", "TRAINYARD_GPUS", gpus, CONFIG_SERVE, "WHICH", gpus_valid,
	     "auto, none, a number, or ids joined by commas, each of them once",
	     "the GPUs to give to replicas: those the engine reports (auto), none, the first N, or ids "
	     "joined by commas",
	     .otherwise = "auto",
	     .detail = "`auto` takes those that the engine names (devices of the Container Device Interface, "
		       "API 1.50 and later); else, if the engine has the runtime `nvidia` and runs on this "
		       "machine, those in `/proc/driver/nvidia/gpus`. A number N stands for the ids 0 to "
		       "N-1.",
	     .page = "gpus-and-queue.md"),
	CHOICE("accelerators", "TRAINYARD_ACCELERATORS", accelerators, "POLICY", "pretend",
	       accelerator_policies, "what to do with a job that asks for more GPUs than there are",
	       .detail =
		       "`pretend` runs it without any. `require` refuses it in the words of the service's "
		       "quota. `wait` leaves it queued. `share` lets several replicas have the same GPU (it "
		       "is refused if there is none at all). A job that asks for no more than there are "
		       "waits until so many are free, except with `share`.",
	       .page = "gpus-and-queue.md"),
	TEXT("quota", "TRAINYARD_QUOTA", quota, CONFIG_SERVE, "LIST", quota_valid,
	     "a list such as create=60,read=300,vcpus=20,K80=2,V100=0",
	     "the quotas of each project: calls a minute, concurrent vCPUs, accelerators of a job",
	     .check = quota_check,
	     .detail = "`create` and `read` are calls a minute; `vcpus` are those of all running jobs (more "
		       "wait); A100, K80, P100, P4, T4, V100, TPU_V2, TPU_V2_POD, TPU_V3 and TPU_V3_POD are "
		       "accelerators of all replicas of one job (more are refused). Example: "
		       "`create=60,read=300,vcpus=20,K80=2,V100=0`.",
	     .default_words = "no quotas"),
	CHOICE("validation", "TRAINYARD_VALIDATION", validation, "HOW", "strict", validations,
	       "whether unknown regions, machine types and runtime versions, retired accelerators and "
	       "persistent resources are refused",
	       .group = "What jobs are given",
	       .detail = "With `lenient` they are taken if they have the right form, and reported as a "
			 "difference from the cloud. A runtime version before 2.0 then has Python 2.7 if the "
			 "job names none."),
	CHOICE("single-replica-name", "TRAINYARD_SINGLE_REPLICA_NAME", single_replica_name, "NAME", "chief",
	       single_replica_names, "what CLUSTER_SPEC calls the only replica of a Vertex AI job"),
	LIST("image-map", "TRAINYARD_IMAGE_MAP", image_map, "FROM=TO", image_rule_valid,
	     "FROM=TO, such as gcr.io/p/train=train:dev or gcr.io/p/*=localhost:5000/*",
	     "run the image TO where a job names FROM; a * at FROM's end goes into TO's; may be repeated",
	     .detail = "Without a tag, FROM is that image with any tag or digest; `*` at its end fits any "
		       "rest, which goes where TO has a `*`. The first rule that fits counts. Rules of the "
		       "command line replace those of the environment, and these the file's. Examples: "
		       "`gcr.io/p/train=train:dev`, `gcr.io/p/*=localhost:5000/*`."),
	LIST("runtime", "TRAINYARD_RUNTIME", runtimes, "RUNTIME=IMAGE", runtime_rule_valid,
	     "VERSION[/PYTHON][/cpu|/gpu]=IMAGE, such as 2.11=trainyard-runtime or */3.7/gpu=mine:gpu",
	     "the image that Python packages of a runtime version run in; may be repeated",
	     .detail = "RUNTIME is a version such as 2.11, or `*` for any; a Python version and `cpu` or "
		       "`gpu` may follow, each after a slash. The first rule that fits counts. "
		       "`deploy/runtime/build` makes such an image without a registry.",
	     .default_words = "the framework images that Google publishes",
	     .page = "ai-platform.md#python-packages"),
	PATH("wheels", "TRAINYARD_WHEELS", wheels, CONFIG_SERVE, "DIR", "a directory",
	     "where pip finds the packages that jobs depend on; nothing is then asked of the network",
	     .detail = "The users of images must be able to read it. Source packages are built with the "
		       "setuptools of the image, unless the directory has one."),
	TEXT("tpu-config", "TRAINYARD_TPU_CONFIG", tpu_config, CONFIG_SERVE, "JSON", tpu_config_valid,
	     "a JSON object", "the TPU_CONFIG that masters of jobs with a Cloud TPU are given"),
	PATH("adc", "TRAINYARD_ADC", adc, CONFIG_SERVE, "FILE", "a path",
	     "real credentials (application_default_credentials.json) that every replica may read",
	     .detail = "They find it at `GOOGLE_APPLICATION_CREDENTIALS`."),
	CHOICE("buckets", "TRAINYARD_BUCKETS", buckets, "HOW", "auto", buckets,
	       "whether a bucket is made when it is first written to, or must be there",
	       .group = "Storage and network"),
	TEXT("storage-endpoint", "TRAINYARD_STORAGE_ENDPOINT", storage_endpoint, BOTH, "URL",
	     storage_endpoint_valid, "http://HOST:PORT",
	     "another emulator of Cloud Storage to use in the place of the built-in one",
	     .detail = "Replicas reach it through their gateway, also if it is on the loopback interface."),
	CHOICE("egress", "TRAINYARD_EGRESS", egress, "HOW", "all", egresses,
	       "what replicas reach besides each other, storage and metadata",
	       .detail =
		       "With `none` the networks of jobs have no way to the outside. A program that calls "
		       "one of the cloud's own hosts is refused at once, and the job's log and report say so "
		       "(as root: this needs port 443).",
	       .page = "inside-a-job.md#names-and-services"),
	LIST("route", "TRAINYARD_ROUTE", routes, "NAME=URL", host_route_valid,
	     "NAME=URL: a host below googleapis.com or *-REST for those of all regions, such as "
	     "bigquery.googleapis.com or *-aiplatform.googleapis.com, and http://HOST:PORT, https://HOST:PORT or self",
	     "lead jobs that call the Google host NAME to URL, or to this daemon (self); may be repeated",
	     .detail = "URL is `http://HOST:PORT`, `https://HOST:PORT` or `self`, this daemon's REST and "
		       "gRPC (as root: this needs port 443). `*-aiplatform.googleapis.com` stands for the "
		       "hosts of all regions. Without a route such calls reach the real service, and the "
		       "job's log and report say so.",
	     .page = "inside-a-job.md#names-and-services"),
	PATH("faults", "TRAINYARD_FAULTS", faults, CONFIG_SERVE, "FILE", "a file",
	     "rules of faults that come over jobs and calls, as a list in JSON", .group = "Faults and time",
	     .detail = "A list of such rules as `POST /_trainyard/v1/faults` takes, or an object with the "
		       "list as `faults`. Rules of the last start that the file still has keep their counts.",
	     .page = "fault-injection.md"),
	NUMBER("seed", "TRAINYARD_SEED", seed, "N", "0", 0, INT64_MAX,
	       "what probabilities of faults, and unless 0 ids, are drawn with: the same number, the same draws",
	       .detail =
		       "With another number than 0, the same requests to a new state directory get the same "
		       "ids of jobs, operations, uploads and the like. They are others after each restart; "
		       "tokens and keys are never drawn with it."),
	TEXT("clock", "TRAINYARD_CLOCK", clock, CONFIG_SERVE, "WHICH", emulator_clock_choice_valid,
	     "real, steppable, or steppable@TIME of the years 2000 to 2199, such as steppable@2026-01-31T12:00:00Z",
	     "real, or steppable[@TIME]: one that users can put forward, and that begins at TIME",
	     .otherwise = "real",
	     .detail =
		     "A steppable clock runs as the real one does, and users can put it forward with "
		     "`trainyard clock advance` or `POST /_trainyard/v1/clock`. That of a new state "
		     "directory begins at TIME (RFC 3339, of the years 2000 to 2199); a state directory "
		     "that has gone by the real clock refuses a TIME. Events that fall due within one step "
		     "happen at its end. It never goes back: a state directory with a clock that is ahead is not "
		     "served with the real one. Programs in containers keep the real time.",
	     .page = "clock.md"),
	TEXT("keep", "TRAINYARD_KEEP", keep, CONFIG_SERVE, "TIME", keep_valid, "a time such as 30d or 12h",
	     "remove jobs that ended longer ago, with their logs; their objects stay",
	     .group = "What is kept",
	     .detail = "It happens in the background. Jobs with a registered model stay. Example: `30d`.",
	     .default_words = "none is removed", .page = "operations.md#what-is-kept"),
	TEXT("max-state", "TRAINYARD_MAX_STATE", max_state, CONFIG_SERVE, "SIZE", size_valid,
	     "a size such as 20G or 500M", "remove the jobs that ended first while jobs and logs take more",
	     .detail = "Objects do not count. Example: `20G`.", .default_words = "no limit",
	     .page = "operations.md#what-is-kept"),
	CHOICE("log-level", "TRAINYARD_LOG_LEVEL", log_level, "LEVEL", "info", log_levels,
	       "the least that the daemon's own log shows", .group = "Its own log"),
	CHOICE("log-format", "TRAINYARD_LOG_FORMAT", log_format, "FORMAT", "text", log_formats,
	       "how it is written, on stderr"),
	{ .name = NULL },
};
