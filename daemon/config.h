/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/config.h: the configuration, from four places.
 *
 * An option has the same name everywhere: --stop-grace 10 on the command line, TRAINYARD_STOP_GRACE=10 in the
 * environment, stop-grace = 10 in a configuration file, in this order of precedence, and then the default. The values
 * of a list also come from one place, the first that has any. Only daemon/ reads the configuration; the rooms below get
 * values. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "daemon/base/log.h"
#include "daemon/base/text.h"

enum config_source { CONFIG_DEFAULT, CONFIG_FILE, CONFIG_ENVIRONMENT, CONFIG_COMMAND_LINE };

enum buckets { BUCKETS_AUTO, BUCKETS_STRICT };
enum egress { EGRESS_ALL, EGRESS_NONE };
enum validation { VALIDATION_STRICT, VALIDATION_LENIENT };
enum single_replica_name { SINGLE_CHIEF, SINGLE_WORKERPOOL0 };

/* The values from one place for an option that may be given several times. */
struct config_list {
	char **values;
	size_t count;
	unsigned reading; /* number of the reading that gave the values (struct origin in config.c); 0: no values */
};

struct config {
	char *file;       /* NULL: none */
	char *listen;     /* "127.0.0.1:8090", which config_listen_split() takes apart, or "unix:/path" */
	char *grpc;       /* the address for gRPC clients; NULL: gRPC is not served */
	char *token_file; /* file with the token for callers; NULL: no token is required */
	char *state_dir;
	char *engine; /* "unix:///var/run/docker.sock" */
	bool swarm;   /* "--engine swarm" was given: the nodes of that engine's swarm run jobs, too */
	struct config_list nodes;     /* rules of daemon/nodes.h: more engines */
	struct config_list node_gpus; /* --node-gpus: the GPUs of other nodes */
	struct config_list node_labels; /* --node-label: labels of any node */
	struct config_list place;       /* scheduler/plan/place_rule.h */
	unsigned job_networks;          /* enum engine_networks of scheduler/engine/engine.h */
	char *project;
	int64_t project_number;
	char *tenant_project; /* project id that the metadata server reports to Vertex AI jobs; NULL: the same as project */
	char *region;
	char *networks; /* "10.213.0.0/16" */
	bool offline;   /* never pull an image */
	bool stop_jobs; /* stop running jobs when the daemon ends */
	int64_t stop_grace_s;
	int64_t node_patience_s;
	int64_t max_active_jobs;
	int64_t max_containers;
	int64_t max_vcpus;             /* 0: see machine_fit */
	int64_t max_memory_mib;        /* 0: see machine_fit */
	unsigned validation;           /* enum validation */
	unsigned single_replica_name;  /* enum single_replica_name: in Vertex AI's CLUSTER_SPEC */
	unsigned machine_fit;          /* enum machine_fit of scheduler/plan/placement.h */
	unsigned accelerators;         /* enum accelerator_policy of scheduler/plan/placement.h */
	char *quota;                   /* quota_parse() of api/training/quota.h; NULL: none */
	struct config_list routes;     /* rules of daemon/gateway/host_routes.h */
	struct config_list host_names; /* additional names for Host headers */
	struct config_list image_map;  /* rules of api/training/image_map.h */
	char *tpu_config;              /* a JSON object; NULL: none */
	char *gpus;                    /* inventory_parse() of scheduler/plan/host.h */
	unsigned buckets;              /* enum buckets: whether a job's buckets are made on first use */
	char *storage_endpoint; /* "http://HOST:PORT" of another emulator of Cloud Storage; NULL: trainyard's own */
	unsigned egress;        /* enum egress: whether replicas have a route to the outside */
	char *adc;              /* the developer's credentials file for replicas; NULL: none */
	struct config_list runtimes; /* rules of api/training/runtime_map.h */
	char *wheels;                /* a directory of wheels that pip installs from; NULL: none */
	char *faults;                /* a file with fault rules for jobs and calls; NULL: none */
	int64_t seed;    /* seed for random choices of faults and for ids; 0: ids are unpredictable */
	char *clock;     /* emulator_clock_open() of daemon/emulator_clock.h */
	char *keep;      /* how long ended jobs are kept, for duration_read() of daemon/base/amount.h; NULL: without limit */
	char *max_state; /* limit for the databases, for size_read() of daemon/base/amount.h; NULL: no limit */
	enum log_level log_level;
	enum log_format log_format;
	char *docker_config; /* a directory */

	enum config_source listen_source, docker_config_source;
};

/* A value of --engine instead of a URL: the engine at the default URL, and all nodes of its swarm. */
#define ENGINE_SWARM "swarm"

/* Appends a copy. */
void config_list_add(struct config_list *list, const char *value);

#define AUTO_CONFIG __attribute__((cleanup(config_deinit)))

void config_deinit(struct config *config);

/* The commands that accept an option on their command line. */
enum config_command {
	CONFIG_SERVE = 1 << 0,
	CONFIG_ENV = 1 << 1,
	CONFIG_CLEAN = 1 << 2,
	CONFIG_STOP = 1 << 3
};

/* Reads all four places. @arguments are the words after the subcommand, ending with NULL. INVALID_ARGUMENT: the error is
 * one line that names the place and the problem. Thread: the first, before others start. */
enum status config_read(struct config *ret_config, enum config_command command, const char *const *arguments,
			struct error *err);

/* Like config_read(), for a command with defaults of its own, "--name=value", which replace those of the table, and
 * with other options: @beside has their names, which are suggested for a misspelled option; @arguments does not contain
 * them. Both lists end with NULL, or are NULL. @passes_on: the command takes words after "--"; the error about an
 * unexpected word then says so. */
enum status config_read_beside(struct config *ret_config, enum config_command command,
			       const char *const *defaults, const char *const *beside, bool passes_on,
			       const char *const *arguments, struct error *err);
#define CONFIG_PASSES_ON "; -- comes before the words that are passed on"

/* Appends one line per option of @command: its name, its meaning, and its default. The lists @first and @defaults have
 * other defaults, "--name=value", and @first takes precedence. Each list ends with NULL, or is NULL. */
void config_help_write(struct text *text, enum config_command command, const char *const *first,
		       const char *const *defaults);
