/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/config.h: what the user asked for, from four places.
 *
 * An option is the same word everywhere: --stop-grace 10 on the command line, TRAINYARD_STOP_GRACE=10
 * in the environment, stop-grace = 10 in a configuration file; the former goes before the latter, and
 * the default comes last. A list is of one place too: the first that gives any of it gives all of it.
 * Only daemon/ reads it; the rooms below get values. */
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

/* What one place gave for an option that may be given several times. */
struct config_list {
	char **values;
	size_t count;
	unsigned reading; /* which reading of which place gave them; 0: none */
};

struct config {
	char *file;       /* NULL: none */
	char *listen;     /* "127.0.0.1:8090", which config_listen_split() takes apart, or "unix:/path" */
	char *grpc;       /* likewise, for clients that speak gRPC; NULL: they are not served */
	char *token_file; /* what callers must prove to know; NULL: nothing */
	char *state_dir;
	char *engine; /* "unix:///var/run/docker.sock" */
	char *project;
	int64_t project_number;
	char *tenant_project; /* which jobs of Vertex AI find at the metadata server; NULL: the same */
	char *region;
	char *networks; /* "10.213.0.0/16" */
	bool offline;   /* never pull an image */
	bool stop_jobs; /* at the end, stop what runs */
	int64_t stop_grace_s;
	int64_t max_active_jobs;
	int64_t max_containers;
	int64_t max_vcpus;             /* 0: see machine_fit */
	int64_t max_memory_mib;        /* likewise */
	unsigned validation;           /* enum validation */
	unsigned single_replica_name;  /* enum single_replica_name: in Vertex AI's CLUSTER_SPEC */
	unsigned machine_fit;          /* enum machine_fit of scheduler/plan/placement.h */
	unsigned accelerators;         /* enum accelerator_policy of the same */
	char *quota;                   /* quota_parse() of api/training/quota.h; NULL: none */
	struct config_list routes;     /* rules of daemon/gateway/host_routes.h */
	struct config_list host_names; /* that requests may name beside those of this machine */
	struct config_list image_map;  /* rules of api/training/image_map.h */
	char *tpu_config;              /* a JSON object; NULL: none */
	char *gpus;                    /* inventory_parse() of scheduler/plan/host.h */
	unsigned buckets;              /* enum buckets: whether a job's buckets are made on first use */
	char *storage_endpoint; /* "http://HOST:PORT" of another emulator of Cloud Storage; NULL: our own */
	unsigned egress;        /* enum egress: whether replicas reach the outside */
	char *adc;              /* the developer's credentials file that replicas are given; NULL: none */
	struct config_list runtimes; /* rules of api/training/runtime_map.h */
	char *wheels;                /* a directory of wheels that pip installs from; NULL: none */
	char *faults;                /* a file of rules of faults that come over jobs and calls; NULL: none */
	int64_t seed;    /* of what is drawn for these, and of ids; 0: those are not to be foretold */
	char *clock;     /* emulator_clock_open() of daemon/emulator_clock.h */
	char *keep;      /* duration_read() of daemon/base/amount.h; NULL: jobs stay for good */
	char *max_state; /* size_read() of the same; NULL: no limit */
	enum log_level log_level;
	enum log_format log_format;
	char *docker_config; /* a directory */

	enum config_source listen_source;
};

#define AUTO_CONFIG __attribute__((cleanup(config_deinit)))

void config_deinit(struct config *config);

/* The commands that take an option on their command line. */
enum config_command {
	CONFIG_SERVE = 1 << 0,
	CONFIG_ENV = 1 << 1,
	CONFIG_CLEAN = 1 << 2,
	CONFIG_STOP = 1 << 3
};

/* Reads all four places. @arguments are the words behind the subcommand, ending with NULL.
 * Outcomes: INVALID_ARGUMENT: one line that says what and where. Thread: the first, before others. */
enum status config_read(struct config *ret_config, enum config_command command, const char *const *arguments,
			struct error *err);

/* The same with defaults of the command's own, "--name=value", which go before those of the table; and with the names of
 * options that the command has besides, which are not in @arguments: one of them may be the one that was meant. Both end
 * with NULL, or are NULL. */
enum status config_read_beside(struct config *ret_config, enum config_command command,
			       const char *const *defaults, const char *const *beside,
			       const char *const *arguments, struct error *err);

/* Appends one line an option of @command: its name, what it means, its default, which either list may give as
 * "--name=value"; both end with NULL, or are NULL. */
void config_help_write(struct text *text, enum config_command command, const char *const *first,
		       const char *const *defaults);
