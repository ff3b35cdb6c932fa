/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/doctor_checks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/cli/background.h"
#include "daemon/cli/client.h"
#include "daemon/cli/terminal.h"
#include "daemon/config.h"
#include "daemon/config_listen.h"
#include "daemon/env.h"
#include "daemon/gcs/gcs_file_system.h"
#include "daemon/main.h"
#include "daemon/nodes.h"
#include "scheduler/engine/engine.h"
#include "scheduler/engine/nvidia_gpus.h"

enum { FILES_LEAST = 1024, KIB = 1024, ANSWER_US = 2000000 };

#define GIB ((int64_t)1 << 30)

static void find(struct finding *finding, enum check_outcome outcome, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void find(struct finding *finding, enum check_outcome outcome, const char *format, ...)
{
	va_list values;

	if (outcome > finding->outcome)
		finding->outcome = outcome;
	if (finding->reported.length)
		text_puts(&finding->reported, "; ");
	va_start(values, format);
	text_vprintf(&finding->reported, format, values);
	va_end(values);
}

static void advise(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void advise(struct finding *finding, const char *format, ...)
{
	va_list values;

	if (finding->advice.length)
		text_puts(&finding->advice, "\n");
	va_start(values, format);
	text_vprintf(&finding->advice, format, values);
	va_end(values);
}

/* ---- the engine ---- */

/* Checks that the engine of each --node answers. */
static void nodes_check(const struct doctor *doctor, struct finding *finding)
{
	const struct config *config = doctor->config;

	if (doctor->nodes_fault)
		find(finding, OUTCOME_BAD, "%s", doctor->nodes_fault);
	for (size_t i = 0; i < config->nodes.count; i++) {
		const char *rule = config->nodes.values[i], *url = node_rule_url(rule);
		const int length = (int)(url - rule) - 1;
		struct error err AUTO_ERROR = { 0 };

		if (engine_kind_of(url)->reach(url, &err))
			find(finding, OUTCOME_BAD, "the node %.*s: %s", length, rule, main_words(&err));
		else
			find(finding, OUTCOME_GOOD, "the node %.*s answers", length, rule);
	}
}

static void engine_check(const struct doctor *doctor, struct finding *finding)
{
	const char *place = json_text_at(doctor->engine, "Place");
	const json_t *parts = json_object_get(doctor->engine, "Components");
	const char *name = json_text_at(json_array_get(parts, 0), "Name");
	const char *version = json_text_at(doctor->engine, "Version");
	struct text memory AUTO_TEXT = { 0 };

	if (doctor->engine) {
		size_append(&memory, json_int_at(doctor->engine, "MemTotal", 0));
		find(finding, OUTCOME_GOOD, "%s %s at %s, %lld CPUs, %s",
		     name && strstr(name, "Podman") ? "Podman" : "Docker Engine", version ? version : "",
		     place ? place : "", (long long)json_int_at(doctor->engine, "NCPU", 0), memory.data);
	} else {
		find(finding, OUTCOME_BAD, "%s", doctor->engine_fault);
		advise(finding,
		       "Or name another engine: --engine, DOCKER_HOST or a context of Docker's (docker context use).");
	}
	nodes_check(doctor, finding);
}

static void limits_check(const struct doctor *doctor, struct finding *finding)
{
	const char *version = json_text_at(doctor->engine, "CgroupVersion");

	if (!doctor->engine) {
		find(finding, OUTCOME_NOTE, "not known without the engine");
		return;
	}
	if (!json_true_at(doctor->engine, "MemoryLimit"))
		find(finding, OUTCOME_BAD, "the engine cannot limit memory");
	if (!json_true_at(doctor->engine, "CpuCfsQuota"))
		find(finding, OUTCOME_BAD, "the engine cannot limit CPUs");
	if (finding->outcome) {
		advise(finding,
		       "Give the engine the cgroup controllers cpu and memory (a rootless engine: delegate them "
		       "in systemd), or serve with --machine-fit none.");
		return;
	}
	find(finding, OUTCOME_GOOD, "CPUs and memory are limited by cgroups v%s", version ? version : "1");
	if (!json_true_at(doctor->engine, "IPv4Forwarding")) {
		find(finding, OUTCOME_BAD, "the kernel forwards no packets, and jobs reach nothing outside");
		advise(finding, "sudo sysctl -w net.ipv4.ip_forward=1");
	}
}

/* ---- the machine ---- */

static int64_t memory_available(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	char line[128];
	long long kib = -1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %lld kB", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib < 0 ? -1 : kib * KIB;
}

static void memory_check(const struct doctor *doctor, struct finding *finding)
{
	const int64_t bytes = memory_available();
	struct text reported AUTO_TEXT = { 0 };

	(void)doctor;
	size_append(&reported, bytes);
	if (bytes < 0)
		find(finding, OUTCOME_NOTE, "/proc/meminfo does not say");
	else
		find(finding,
		     bytes < GIB / 2   ? OUTCOME_BAD
		     : bytes < 2 * GIB ? OUTCOME_NOTE
				       : OUTCOME_GOOD,
		     "%s available", reported.data);
	if (finding->outcome && bytes >= 0)
		advise(finding,
		       "Images of TensorFlow and PyTorch want some GiB for each replica: end other programs.");
}

/* Reads the free bytes of the file system of a directory, or of its nearest existing parent. */
static bool room_read(const char *directory, int64_t *ret_free)
{
	AUTO(string) char *path = memory_strdup(directory);
	struct statvfs status;

	while (statvfs(path, &status) != 0) {
		char *slash = strrchr(path, '/');

		if (!slash || !path[1])
			return false;
		slash[slash == path] = '\0';
	}
	*ret_free = (int64_t)status.f_bavail * (int64_t)status.f_frsize;
	return true;
}

static void room_find(struct finding *finding, const char *directory, const char *what)
{
	struct text reported AUTO_TEXT = { 0 };
	int64_t bytes;

	if (!room_read(directory, &bytes))
		return;
	size_append(&reported, bytes);
	find(finding,
	     bytes < GIB       ? OUTCOME_BAD
	     : bytes < 5 * GIB ? OUTCOME_NOTE
			       : OUTCOME_GOOD,
	     "%s free for %s (%s)", reported.data, what, directory);
}

static void disk_check(const struct doctor *doctor, struct finding *finding)
{
	const char *images = json_text_at(doctor->engine, "DockerRootDir");
	const char *state_dir = doctor->config->state_dir;

	room_find(finding, state_dir, "state");
	if (images)
		room_find(finding, images, "images");
	if (finding->outcome)
		advise(finding,
		       "docker image prune removes images that nothing uses; --state-dir moves the state.");
	if (access(state_dir, F_OK) == 0 && access(state_dir, W_OK) != 0) {
		find(finding, OUTCOME_BAD, "this user may not write to %s", state_dir);
		advise(finding, "Serve as its owner, or with another --state-dir.");
	}
}

static void files_check(const struct doctor *doctor, struct finding *finding)
{
	struct rlimit limit = { 0 };

	(void)doctor;
	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max >= FILES_LEAST) {
		find(finding, OUTCOME_GOOD, "a program may open %lld", (long long)limit.rlim_max);
		return;
	}
	find(finding, OUTCOME_BAD, "a program may open %lld, and the daemon wants %d",
	     (long long)limit.rlim_max, FILES_LEAST);
	advise(finding, "Raise the limit: ulimit -n, or LimitNOFILE= of systemd.");
}

static bool program_is_there(const char *name)
{
	AUTO(string) char *path = memory_strdup(getenv("PATH"));
	char *rest = NULL;

	for (char *directory = path ? strtok_r(path, ":", &rest) : NULL; directory;
	     directory = strtok_r(NULL, ":", &rest)) {
		AUTO(string) char *file = memory_printf("%s/%s", directory, name);

		if (access(file, X_OK) == 0)
			return true;
	}
	return false;
}

static bool fuse_allows_others(void)
{
	FILE *file = fopen("/etc/fuse.conf", "re");
	char line[256];
	bool allows = false;

	while (file && fgets(line, sizeof(line), file))
		allows = allows || strncmp(line, "user_allow_other", strlen("user_allow_other")) == 0;
	if (file)
		fclose(file);
	return allows;
}

static void fuse_check(const struct doctor *doctor, struct finding *finding)
{
	(void)doctor;
	if (!gcs_file_system_is_possible()) {
		find(finding, OUTCOME_BAD,
		     "this program was built without libfuse3: jobs of Vertex AI have no /gcs");
		advise(finding, "Install libfuse3-dev, and build trainyard again.");
		return;
	}
	if (access("/dev/fuse", R_OK | W_OK) != 0) {
		find(finding, OUTCOME_BAD, "/dev/fuse: %s: jobs of Vertex AI have no /gcs", strerror(errno));
		advise(finding,
		       errno == ENOENT
			       ? "sudo modprobe fuse; in a container: --device /dev/fuse --cap-add SYS_ADMIN"
			       : "Let this user read and write /dev/fuse.");
		return;
	}
	if (geteuid() == 0 || (program_is_there("fusermount3") && fuse_allows_others())) {
		find(finding, OUTCOME_GOOD, "jobs of Vertex AI have Cloud Storage as files at /gcs");
		return;
	}
	find(finding, OUTCOME_BAD, "%s: jobs of Vertex AI have no /gcs",
	     program_is_there("fusermount3") ? "/etc/fuse.conf has no user_allow_other"
					     : "there is no fusermount3");
	advise(finding, "sudo apt-get install fuse3, and put the line user_allow_other into /etc/fuse.conf.");
}

static bool engine_gives_gpus(const json_t *engine)
{
	return json_object_get(json_object_get(engine, "Runtimes"), "nvidia") ||
	       json_array_size(json_object_get(engine, "DiscoveredDevices"));
}

static void gpus_check(const struct doctor *doctor, struct finding *finding)
{
	struct host host = { 0 };

	nvidia_gpus_read(NVIDIA_DIRECTORY, &host);
	if (!host.device_count) {
		find(finding, OUTCOME_GOOD,
		     "none here: jobs that ask for some run without (--accelerators can change that)");
	} else if (doctor->engine && !engine_gives_gpus(doctor->engine)) {
		find(finding, OUTCOME_BAD, "%zu here, but the engine cannot give them to containers",
		     host.device_count);
		advise(finding,
		       "Install nvidia-container-toolkit, run sudo nvidia-ctk runtime configure --runtime=docker, and "
		       "start the engine anew.");
	} else {
		find(finding, OUTCOME_GOOD, "%zu", host.device_count);
	}
	host_deinit(&host);
}

/* ---- the daemon and its clients ---- */

static void daemon_check(const struct doctor *doctor, struct finding *finding)
{
	AUTO(client) struct client *client = NULL;
	AUTO(json) json_t *health = NULL;
	struct text keeps AUTO_TEXT = { 0 };
	struct error err AUTO_ERROR = { 0 };
	const char *reason;

	if (!doctor->daemon_runs) {
		find(finding, OUTCOME_NOTE, "none runs on %s", doctor->config->state_dir);
		advise(finding, "trainyard start");
		return;
	}
	if (client_open(doctor->address.url, doctor->address.token_file, &client, &err) ||
	    client_call(client, "GET", "/healthz", NULL, &health, &err)) {
		find(finding, OUTCOME_BAD, "it runs and does not answer: %s", err.text);
		advise(finding, "daemon.log in the state directory tells more; trainyard stop ends it.");
		return;
	}
	reason = json_text_at(health, "reason");
	if (reason)
		advise(finding, "Mend that, or serve with an --engine that answers.");
	retention_write(&keeps, json_object_get(health, "retention"));
	find(finding, reason ? OUTCOME_BAD : OUTCOME_GOOD, "version %s serves at %s%s%s%s%s",
	     json_text_at(health, "version"), doctor->address.url, keeps.length ? " and keeps " : "",
	     keeps.length ? keeps.data : "", reason ? ": " : "", reason ? reason : "");
}

/* Returns true if a server could listen on that address and port now; otherwise false, with errno. */
static bool port_is_free(const char *address, uint16_t port)
{
	const struct addrinfo hints = { .ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM };
	AUTO(string) char *service = memory_printf("%u", port);
	struct addrinfo *found = NULL;
	const int on = 1;
	bool free_now = false;
	int fd;

	if (getaddrinfo(address, service, &hints, &found) != 0)
		return true;
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		free_now = bind(fd, found->ai_addr, found->ai_addrlen) == 0;
		const int before = errno;
		close(fd);
		errno = before;
	}
	freeaddrinfo(found);
	return free_now;
}

static void port_check(const struct doctor *doctor, struct finding *finding)
{
	const char *listen = doctor->config->listen;
	char address[LISTEN_ADDRESS_SIZE];
	uint16_t port;

	if (doctor->daemon_runs) {
		find(finding, OUTCOME_GOOD, "the daemon has its own");
	} else if (!config_listen_split(listen, address, &port)) {
		find(finding, OUTCOME_GOOD, "a socket at a path is configured");
	} else if (port_is_free(address, port)) {
		find(finding, OUTCOME_GOOD, "%s is free", listen);
	} else {
		find(finding, OUTCOME_BAD, "%s: %s", listen, strerror(errno));
		advise(finding,
		       "End the program that has it (ss -ltnp shows which), or serve with --listen 127.0.0.1:PORT.");
	}
}

static void user_check(const struct doctor *doctor, struct finding *finding)
{
	(void)doctor;
	if (geteuid() == 0)
		find(finding, OUTCOME_GOOD,
		     "root: programs find storage and metadata at their own ports, 80 and 443");
	else
		find(finding, OUTCOME_NOTE,
		     "not root: programs find storage and metadata by variables only, and not at ports 80 and 443");
}

struct variables {
	const char *url;
	struct finding *finding;
	unsigned set, missing, elsewhere;
};

/* Looks at an environment variable that should have an address of the daemon, and counts it: as missing or set and, if
 * it has an address elsewhere, also as that. */
static void variable_look(void *arg, const char *name, const char *value)
{
	struct variables *variables = arg;
	const char *own = getenv(name);

	if (!value || strncmp(value, variables->url, strlen(variables->url)) != 0)
		return;
	if (!own || !*own) {
		variables->missing++;
		return;
	}
	variables->set++;
	if (strncmp(own, variables->url, strlen(variables->url)) != 0) {
		variables->elsewhere++;
		find(variables->finding, OUTCOME_BAD, "%s leads to %s", name, own);
	}
}

/* Returns true if a trainyard answers at @url. */
static bool daemon_answers(const char *url)
{
	AUTO(client) struct client *client = NULL;
	AUTO(json) json_t *health = NULL;
	const char *state;

	if (client_open(url, NULL, &client, NULL))
		return false;
	client_limit(client, ANSWER_US);
	if (client_call(client, "GET", "/healthz", NULL, &health, NULL))
		return false;
	state = json_text_at(health, "status");
	return state && (strcmp(state, "ok") == 0 || strcmp(state, "degraded") == 0);
}

/* Appends the URL that clients should use. Several daemons may run: if TRAINYARD_ENDPOINT names another one than the
 * configured daemon, and it answers, the URL is that, and the function returns true. Otherwise it is the URL of the
 * configured daemon; for one that listens at a path, this is no HTTP URL, or empty if the daemon does not run. */
static bool url_choose(const struct doctor *doctor, struct text *url)
{
	const char *own = getenv("TRAINYARD_ENDPOINT");
	char address[LISTEN_ADDRESS_SIZE];
	uint16_t port;

	if (doctor->daemon_runs)
		text_puts(url, doctor->address.url);
	else if (config_listen_split(doctor->config->listen, address, &port))
		config_url_write(url, address, port);
	if (!own || !*own || (url->length && strncmp(own, url->data, url->length) == 0) || !daemon_answers(own))
		return false;
	text_clear(url);
	text_append(url, own, strlen(own) - (own[strlen(own) - 1] == '/'));
	return true;
}

static void clients_check(const struct doctor *doctor, struct finding *finding)
{
	struct env_settings settings AUTO_ENV_SETTINGS = { 0 };
	struct text url AUTO_TEXT = { 0 };
	struct variables variables = { .finding = finding };
	const bool is_other = url_choose(doctor, &url);

	if (is_other)
		find(finding, OUTCOME_GOOD, "TRAINYARD_ENDPOINT names another daemon, which answers");
	if (!url.length || strncmp(url.data, "http", 4) != 0 ||
	    env_settings_find(doctor->config, url.data, &settings, NULL)) {
		find(finding, OUTCOME_NOTE,
		     "a daemon at a path has no address for gcloud and client libraries");
		return;
	}
	variables.url = url.data;
	env_each(&settings, variable_look, &variables);
	if (variables.elsewhere)
		advise(finding, "eval \"$(trainyard env%s)\" leads them to %s.",
		       is_other ? " --state-dir DIR" : "", url.data);
	else if (!variables.set)
		find(finding, OUTCOME_NOTE, "gcloud and client libraries are not led to %s in this shell",
		     url.data);
	else if (variables.missing)
		find(finding, OUTCOME_NOTE, "%u of %u addresses of gcloud and client libraries are not set",
		     variables.missing, variables.missing + variables.set);
	else
		find(finding, OUTCOME_GOOD, "gcloud and client libraries are led to %s", url.data);
	if (finding->outcome == OUTCOME_NOTE)
		advise(finding, "eval \"$(trainyard env%s)\"", is_other ? " --state-dir DIR" : "");
}

static void credentials_check(const struct doctor *doctor, struct finding *finding)
{
	const char *file = getenv("GOOGLE_APPLICATION_CREDENTIALS");

	(void)doctor;
	if (!file || !*file) {
		find(finding, OUTCOME_GOOD, "GOOGLE_APPLICATION_CREDENTIALS is not set");
	} else if (access(file, R_OK) != 0) {
		find(finding, OUTCOME_BAD, "GOOGLE_APPLICATION_CREDENTIALS: %s: %s", file, strerror(errno));
		advise(finding, "eval \"$(trainyard env)\" sets it to a file that trainyard makes when a "
				"daemon has run.");
	} else {
		find(finding, OUTCOME_GOOD, "GOOGLE_APPLICATION_CREDENTIALS is %s", file);
	}
}

static void proxy_check(const struct doctor *doctor, struct finding *finding)
{
	static const char *const names[] = { "http_proxy",  "HTTP_PROXY", "https_proxy",
					     "HTTPS_PROXY", "all_proxy",  "ALL_PROXY" };
	const char *lower = getenv("no_proxy"), *upper = getenv("NO_PROXY"), *own = lower ? lower : upper;
	AUTO(string) char *wanted = no_proxy_extend(own ? own : "");
	const char *set = NULL;

	(void)doctor;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !set; i++)
		if (getenv(names[i]) && *getenv(names[i]))
			set = names[i];
	if (!set) {
		find(finding, OUTCOME_GOOD, "none is set");
	} else if (own && strcmp(own, wanted) == 0) {
		find(finding, OUTCOME_GOOD, "%s is set, and this machine is excepted", set);
	} else {
		find(finding, OUTCOME_BAD, "%s is set, and clients ask the proxy for this machine, too", set);
		advise(finding, "export no_proxy='%s' NO_PROXY='%s'; eval \"$(trainyard env)\" does it.",
		       wanted, wanted);
	}
}

const struct check doctor_checks[] = {
	{ "engine", engine_check },   { "limits", limits_check },
	{ "daemon", daemon_check },   { "port", port_check },
	{ "user", user_check },       { "memory", memory_check },
	{ "disk", disk_check },       { "files", files_check },
	{ "gpus", gpus_check },       { "/gcs", fuse_check },
	{ "clients", clients_check }, { "identity", credentials_check },
	{ "proxy", proxy_check },     { .name = NULL },
};
