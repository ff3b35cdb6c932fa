/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/engine.h: the interface to container engines.
 *
 * Asynchronous: an operation is queued and returns at once; its outcome arrives as one event at the sink, on the
 * engine's own thread. Every operation may be repeated safely: it succeeds if its effect is there already. Operations
 * on an unreachable engine fail with UNAVAILABLE; after each (re)connect come ENGINE_UP and then ENGINE_LISTING, from
 * which the scheduler finds out what to order again.
 *
 * Containers and networks have names and labels made of the instance and the key below, so that they are found again
 * after a restart of the daemon or the engine. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"
#include "daemon/base/replica.h"
#include "scheduler/engine/orphans.h"
#include "scheduler/plan/host.h"
#include "scheduler/plan/image_facts.h"
#include "scheduler/plan/plan.h"

struct connection_sink;
struct engine;
struct engine_group;
struct file_sink;

/* The description of one container. Strings are borrowed for the call only. */
struct replica_spec {
	struct replica_key key;
	const char *project, *job_id; /* the project and the user's id of the job, for the container's labels */
	const char *image;            /* id from ENGINE_IMAGE_READY */
	const char *hostname;         /* at most 63 bytes */
	const char *alias;            /* the host name by which other replicas of the network reach it */
	const json_t *command;        /* array of strings, or NULL for the image's ENTRYPOINT */
	const json_t *args;           /* array of strings, or NULL for the image's CMD */
	const json_t *env;            /* array of "NAME=value"; each below 131072 bytes or the create fails */
	const json_t *hosts;          /* array of "name:address" for /etc/hosts */
	/* Array of "/of/this/machine:/in/the/container:ro", or NULL. If the engine cannot mount this machine's paths,
	 * the container gets copies: of a file, or of the files directly in a directory. Without ":ro" it is a
	 * directory below engine_options.reports_dir; in that case, the files that the container writes directly into
	 * its copy are fetched. Any other writable mount makes the create fail there. */
	const json_t *mounts;
	const char *scratch; /* path for an empty directory in memory that every user may write to, or NULL */
	const char *empty;   /* path for an empty directory that cannot be written to, or NULL */
	uint16_t
		/* the port of the gateway (scheduler/gateway.h) that the containers were given, kept in a label; 0:
		 * none */
		gateway_port;
	int64_t made_us; /* when the container was ordered, by the daemon's wall clock, kept in a label; 0: unknown */
	const char *network; /* id */
	const char *address; /* IPv4 in that network */
	const json_t *
		device_ids; /* array of ids as in struct host, or NULL: NVIDIA_VISIBLE_DEVICES is set to void */
	int64_t nano_cpus;    /* 0: unlimited; limited to the CPUs of the host */
	int64_t memory_bytes; /* 0: unlimited */
	int64_t shm_bytes;    /* 0: the engine's default */
	unsigned pids_limit;
	unsigned stop_grace_s;
};

enum replica_observed { REPLICA_CREATED, REPLICA_RUNNING, REPLICA_EXITED };

/* The engine's observed state of one replica. */
struct replica_status {
	struct replica_key key;
	enum replica_observed observed;
	int exit_code;       /* EXITED: 128+n for signal n */
	bool out_of_memory;  /* EXITED: the kernel's out-of-memory killer ended one of its processes */
	bool paused;         /* RUNNING: the container is paused (docker pause) */
	int64_t finished_ns; /* EXITED: by the engine's clock */
	bool witnessed; /* EXITED: the engine ran all the time, and no signal that ends a program was sent through it */
	bool signalled; /* EXITED: such a signal was sent through the engine. Both witnessed and signalled false: it is
			 * unknown how it ended */
	uint16_t gateway_port; /* gateway_port of the spec */
	int64_t made_us;       /* made_us of the spec */
};

/* The address at which the replicas of a network reach this daemon, and how the daemon serves there. */
struct network_reach {
	uint32_t address; /* host byte order; the daemon can bind it, unless is_carried */
	char device
		[16]; /* interface of this machine through which all replicas connect: "br-0123456789ab"; "": unknown */
	/* The daemon has no address in the network: connections to the address come by engine_ops.carry_network(). */
	bool is_carried;
};

struct network_status {
	int64_t job; /* job_run_network() of the job that it was made for; others may take it over: network_pool.h */
	char id[80];
	struct network_reach reach;
	uint32_t first;    /* the first address for replicas, host byte order */
	unsigned capacity; /* number of addresses for replicas */
};

/* Whether one of @networks was made for @job. */
static inline bool networks_have(const struct network_status *networks, size_t count, int64_t job)
{
	for (size_t i = 0; i < count; i++)
		if (networks[i].job == job)
			return true;
	return false;
}

enum engine_event_kind {
	ENGINE_UP,   /* the engine can be reached; text: name and version; host: its machine's resources */
	ENGINE_DOWN, /* the engine cannot be reached; text: the reason. Sent once per loss */
	/* everything of this instance: replicas[], networks[]. Sent after UP and every 30 s. No listing is
	 * older than an event sent before it; things that were ordered, but not made yet, may be missing */
	ENGINE_LISTING,
	ENGINE_IMAGE_PROGRESS,  /* image, text: a progress line (at most one in two seconds); pulled_bytes, image_bytes */
	ENGINE_IMAGE_READY,     /* image (as ordered), text: the id to run */
	ENGINE_IMAGE_FAILED,    /* image, status, text */
	ENGINE_NETWORK_READY,   /* job, networks[0] */
	ENGINE_NETWORK_FAILED,  /* job, status, text */
	ENGINE_NETWORK_REMOVED, /* job; also sent if there was no network */
	ENGINE_NETWORKS_FREE,   /* status OK: free_blocks; otherwise text: the reason why no network can be made now */
	/* number: of the order; devices: an array of the ids that another instance has. All other GPUs of the order are
	 * this instance's. UNAVAILABLE, text: it is not known which of the GPUs this instance has */
	ENGINE_DEVICES_CLAIMED,
	ENGINE_REPLICA_CREATED, /* replicas[0].key */
	ENGINE_REPLICA_STARTED, /* replicas[0].key */
	/* replicas[0].key; status, text: create or start refused. NOT_FOUND for a start: its network is gone */
	ENGINE_REPLICA_FAILED,
	ENGINE_REPLICA_EXITED,  /* replicas[0]: complete status */
	ENGINE_REPLICA_REMOVED, /* replicas[0].key; removed by us or by another program, or gone already */
	ENGINE_REPLICA_PAUSED,  /* replicas[0].key, paused: the container was paused, or continued */
	ENGINE_LOGS_ENDED, /* replicas[0].key: the container has exited and all its lines were handed over */
	/* replicas[0].key; status, text: the limit was not changed. FAILED_PRECONDITION: repeating the order does not
	 * help */
	ENGINE_THROTTLE_FAILED,
	/* an operation that can simply be repeated (stop, remove, link, remove network) failed: replicas[0].key or job,
	 * status, text; the next listing shows what is left */
	ENGINE_FAILED,
};

struct engine_event {
	enum engine_event_kind kind;
	int64_t job;
	const char *image;
	enum status status;
	const char *text; /* the engine's error text; never NULL */
	int64_t pulled_bytes, image_bytes; /* IMAGE_PROGRESS: of all layers; image_bytes: 0: not known yet */
	const struct replica_status *replicas;
	size_t replica_count;
	const struct network_status *networks;
	size_t network_count;
	unsigned free_blocks;    /* NETWORKS_FREE */
	unsigned number;         /* DEVICES_CLAIMED */
	const json_t *devices;   /* DEVICES_CLAIMED; NULL: none */
	const struct host *host; /* UP */
};

/* Free blocks are counted up to this number. */
enum { FREE_BLOCKS_MAX = 64 };

/* One whole line of a replica's output. */
struct replica_line {
	struct replica_key key;
	int stream; /* 1 stdout, 2 stderr */
	int64_t time_ns; /* the engine's clock; grows within one stream of one container, unless the clock is set back */
	const char *data; /* without the newline; any bytes; at most ENGINE_LINE_MAX */
	size_t length;
	bool continues;         /* the line was too long: the next call has its next part */
	struct log_reach reach; /* the reach of the line's stream, including this line or part */
};

/* A longer line is cut into parts of this size, or up to three bytes less so that no UTF-8 sequence is split (Cloud
 * Logging takes entries up to 256 KiB). They share one time_ns; only the last part has continues = false. */
enum { ENGINE_LINE_MAX = 240 * 1024 };

/* How a replica is connected to its network. Strings are borrowed for the call only. */
struct replica_link {
	const char *network;         /* id */
	const char *address, *alias; /* as in its replica_spec; NULL: disconnected */
};

struct engine_sink {
	/* Receives an event, on the engine's thread; the event is borrowed. Must not block. */
	void (*event)(void *arg, const struct engine_event *event);
	/* Takes a copy of the line. False: there is no room now; the engine keeps the line, stops reading that stream,
	 * and tries again after engine_resume_logs(). */
	bool (*line)(void *arg, const struct replica_line *line);
	void *arg;
};

/* How the caller is connected to a second program in a replica's container. */
enum terminal_kind {
	TERMINAL_SCREEN, /* a terminal: one stream in both directions */
	/* Pipes. Output is read in frames: a byte, 1 for stdout and 2 for stderr, three zero bytes, the length in four
	 * bytes, big endian, and the data. Reads may split frames anywhere. */
	TERMINAL_PIPES,
};

/* A second program in a replica's container. One thread may read while another writes or resizes; close() must come
 * after them. It may outlive the engine that opened it. */
struct terminal;

struct terminal_ops {
	/* Reads the next output. Returns the number of bytes; 0: none came within @timeout_ms; -1: the program has
	 * ended. */
	ssize_t (*read)(struct terminal *terminal, char *buffer, size_t size, unsigned timeout_ms);
	/* Writes input. Blocks while the program does not read. False: the program has ended, or has read nothing for
	 * ten seconds (through pipes: a minute). */
	bool (*write)(struct terminal *terminal, const char *data, size_t length);
	/* Ends the input of TERMINAL_PIPES. */
	void (*end_input)(struct terminal *terminal);
	void (*resize)(struct terminal *terminal, unsigned columns, unsigned rows);
	/* The exit code of a program that has ended; -1: unknown. Asks the engine. */
	int (*exit_code)(struct terminal *terminal);
	/* Ends the connection. If the program still runs, it and the processes that it started get SIGHUP, and a second
	 * later SIGKILL. This takes requests to the engine: short ones, at most ten seconds for each of two if it does
	 * not answer. */
	void (*close)(struct terminal *terminal);
};

/* A terminal. It is the first member of every implementation's struct. */
struct terminal {
	const struct terminal_ops *ops;
};

/* A file to put into a container. */
struct engine_file {
	const char *path; /* the path in the container: absolute, at most 100 bytes after the slash */
	const char *data;
	size_t size;
	unsigned mode; /* permission bits, such as 0444; the owner is root */
};

/* Limit for all files of one call together. */
enum { ENGINE_FILES_MAX = 64 << 20 };

/* The network path from the daemon to an engine's machine, which may lead through other machines. closed_ago_us: the
 * time since a connection last failed before it could learn anything of the engine's machine; open_ago_us: the time
 * since anything was last learnt of that machine; INT64_MAX: never. As long as the path is broken, or nothing is known
 * of it, an engine that does not answer may be well. */
struct engine_way {
	int64_t closed_ago_us, open_ago_us;
};

struct engine_ops {
	/* Makes the image available: looks for it, and pulls it if it is missing (never if the engine was opened
	 * offline). An image that is on another engine of the group, but in no registry, is copied from that engine.
	 * There is one pull or copy at a time per image, and its event answers all requests. */
	void (*ensure_image)(struct engine *engine, const char *image);
	/* Makes the job's network. @address_count: the number of replicas that it must hold. */
	void (*create_network)(struct engine *engine, int64_t job, unsigned address_count);
	/* Asks for how many networks with room for @address_count replicas the pool has free blocks; answered by
	 * NETWORKS_FREE. Later orders, or other programs, may take these blocks. */
	void (*look_for_networks)(struct engine *engine, unsigned address_count);
	/* Claims GPUs among all instances of the engine, wherever their daemons are: @devices (array of ids) are from
	 * now on all that this instance has, and others become free. After ENGINE_UP every claim is to be ordered
	 * again. Answered by DEVICES_CLAIMED with @number, unless a newer order has replaced this one; again if claims
	 * were lost in the engine. An answer may take seconds if the daemon of another instance has died. */
	void (*claim_devices)(struct engine *engine, const json_t *devices, unsigned number);
	void (*remove_network)(struct engine *engine, int64_t job);
	/* For a network with a carried reach: from now on, connections to the reach's address go to @sink, which is
	 * copied. After close() the sink is not called any more. @job: as in network_status. Returns at once.
	 * Outcomes: NOT_FOUND: there is no such network, or it is not carried; UNAVAILABLE: connections do not
	 * arrive, for the reason in the text. */
	enum status (*carry_network)(struct engine *engine, int64_t job, const struct connection_sink *sink,
				     struct error *err);
	void (*create_replica)(struct engine *engine, const struct replica_spec *spec);
	void (*start_replica)(struct engine *engine, const struct replica_key *key);
	/* SIGTERM, then SIGKILL after @grace_s (0: at once). REPLICA_EXITED reports the end; again if the replica had
	 * already ended. A start that is only queued is dropped, which REPLICA_CREATED reports; a start that is under
	 * way completes first. */
	void (*stop_replica)(struct engine *engine, const struct replica_key *key, unsigned grace_s);
	/* Removes the container and its anonymous volumes; kills it if it still runs. */
	void (*remove_replica)(struct engine *engine, const struct replica_key *key);
	/* Disconnects a running replica from its network, or connects it again. The last order counts. Success is not
	 * reported; ENGINE_FAILED reports a failure. */
	void (*link_replica)(struct engine *engine, const struct replica_key *key,
			     const struct replica_link *link);
	/* Limits the rate at which a running replica sends and receives; 0: no limit. The limit ends with the
	 * container. The last order counts. Success is not reported; ENGINE_THROTTLE_FAILED reports a failure. */
	void (*throttle_replica)(struct engine *engine, const struct replica_key *key, unsigned bytes_per_s);
	/* Follows a replica's output: hands over each line after @from, in order within a stream, until the
	 * container exits; then reads once more the lines that a broken stream may have missed, and sends
	 * LOGS_ENDED. After a loss of the engine it continues by itself. Does nothing if the replica is followed
	 * already. For a replica that never started or is gone, LOGS_ENDED comes at once. */
	void (*follow_logs)(struct engine *engine, const struct replica_key *key,
			    const struct log_position *from);
	/* To be called when the sink has room for lines again. Thread: any. */
	void (*resume_logs)(struct engine *engine);
	/* Runs @command (array of strings) in the container of a running replica, through pipes or on a terminal of its own, with
	 * 80 columns and 24 rows at first. Uses a connection of its own, and blocks until the program runs. Thread: any.
	 * Outcomes: NOT_FOUND: no such replica; FAILED_PRECONDITION: it does not run, or has no such program;
	 *           UNAVAILABLE: the engine does not answer. */
	enum status (*open_terminal)(struct engine *engine, const struct replica_key *key,
				     const json_t *command, enum terminal_kind kind,
				     struct terminal **ret_terminal, struct error *err);
	/* Puts files into a container, running or not, without mounting paths of this machine; makes missing
	 * directories. Blocks and uses a connection of its own, as does get_files(). Thread: any.
	 * Choice: files are mounted if the engine can access this machine's files: with Docker, copying costs 110 to
	 * 220 ms in addition to the 480 to 800 ms of a start (measured 2026-11-25, 20.10 on a busy machine).
	 * Outcomes: NOT_FOUND: no such replica; RESOURCE_EXHAUSTED: more than ENGINE_FILES_MAX. */
	enum status (*put_files)(struct engine *engine, const struct replica_key *key,
				 const struct engine_file *files, size_t count, struct error *err);
	/* Hands over the file at @path, or all files below it, while the container runs or after its end. Only regular
	 * files are handed over. Outcomes: NOT_FOUND: no such replica, or no such path; RESOURCE_EXHAUSTED: the files
	 * have more than @bytes_max bytes; some may have been handed over. */
	enum status (*get_files)(struct engine *engine, const struct replica_key *key, const char *path,
				 size_t bytes_max, const struct file_sink *sink, struct error *err);
	/* Inspects an image for containers that run @command and @args (arrays of strings; NULL: unchanged) instead of
	 * its ENTRYPOINT and CMD. @with_program: also checks whether the program exists, for which a container is made
	 * and removed. Blocks, on a connection of its own. Thread: any.
	 * Outcomes: NOT_FOUND: the engine does not have the image; INVALID_ARGUMENT: it is not an image's
	 * name. */
	enum status (*inspect_image)(struct engine *engine, const char *image, const json_t *command,
				     const json_t *args, bool with_program, struct image_facts *ret_facts,
				     struct error *err);
	/* What is known of the way to the engine's machine. Thread: any. */
	struct engine_way (*way)(struct engine *engine);
	/* Requests an ENGINE_LISTING before the next regular one. */
	void (*list)(struct engine *engine);
	/* Ends the engine's thread; no event comes after it has returned. Containers are not touched. */
	void (*close)(struct engine *engine);
};

/* An engine. It is the first member of every implementation's struct. */
struct engine {
	const struct engine_ops *ops;
};

enum { ENGINE_CARRIED_PORTS_MAX = 4 };

/* Which networks an engine makes for jobs. */
enum engine_networks {
	ENGINE_BRIDGES, /* bridge networks on the engine's machine */
	/* The engine is a manager of a swarm. It makes overlay networks over all nodes, and the engines of other
	 * nodes make replicas in these. The kernel of each node encrypts packets to other nodes: kernel_esp.h. */
	ENGINE_OVERLAYS,
	ENGINE_OVERLAYS_PLAIN, /* like ENGINE_OVERLAYS, without encryption */
	ENGINE_GUEST, /* none: the replicas are in networks that a manager of the swarm has made and lists */
};

/* What an engine is opened with. Strings are borrowed for the call only. */
struct engine_options {
	const char *url; /* the kind of engine and its address: see engine_kind_of() */
	const char
		*instance; /* marks what belongs to this daemon: lowercase letters and digits, at most 32 */
	const char *networks; /* pool for job networks, "10.213.0.0/16" */
	const char
		*registry_config; /* the directory with config.json for registry credentials; NULL: none */
	const char *
		state_dir; /* used to find out whether the engine can access this machine's files; NULL: it can */
	const char *
		/* the parent of the directories that containers write to, each named by its job; NULL: there are
		 * none */
		reports_dir;
	bool offline; /* never pull */
	bool swarm;   /* the nodes of the engine's swarm are used */
	/* The ports in containers' networks at which a carried network's address can be called; 0 ends the list.
	 * They are not ports of this machine. */
	uint16_t carried_ports[ENGINE_CARRIED_PORTS_MAX];
	/* job networks have no route to the outside; replicas reach each other and the network's gateway */
	bool internal;
	enum engine_networks makes;
	struct engine_group *group; /* the engines that hand images on to this one; NULL: none */
	const char *node;           /* the engine's name for messages; NULL: without a group */
};

/* The function to which a sweep reports its results. */
struct sweep_report {
	/* Called for each removed object, with @problem NULL, and at the end for each object that could not be
	 * removed, with the engine's error text. Borrowed. */
	void (*reported)(void *arg, const struct orphan *item, const char *problem);
	void *arg;
};

/* One kind of engine: a row of the table in engine.c. All functions except open() wait for the engine, on the caller's
 * thread. */
struct engine_kind {
	bool (*url_valid)(const char *url); /* whether the URL belongs to this kind of engine */
	/* Starts the engine's thread and returns without waiting for the engine, which may be down. INVALID_ARGUMENT
	 * with one line of text: an option cannot be used. */
	enum status (*open)(const struct engine_options *options, const struct engine_sink *sink,
			    struct engine **ret_engine, struct error *err);
	/* Connects to a unix socket without further checks; asks an engine that is reached over a network one question.
	 * UNAVAILABLE: it does not exist, does not run, or this user may not use it; the text says which, and what
	 * helps. */
	enum status (*reach)(const char *url, struct error *err);
	/* Facts about the engine: "ServerVersion", "MemTotal" and others from Docker's /info and /version, and "Place":
	 * its address for messages. The caller frees them. UNAVAILABLE: as reach, or no answer. */
	enum status (*describe)(const char *url, json_t **ret_facts, struct error *err);
	/* Lists the containers, the networks and the volumes (docker_elsewhere.h, docker_claims.h) of @instance in the
	 * engine; if NULL, of any instance. The list is sorted. UNAVAILABLE: no answer. */
	enum status (*list)(const char *url, const char *instance, struct orphans *ret_list,
			    struct error *err);
	/* Removes the containers (and kills running ones), their anonymous volumes, the networks and the volumes of
	 * @instance, until the engine has none. A network stays if a container of another owner is connected to it.
	 * FAILED_PRECONDITION: some could not be removed, and each was reported; or the engine shows that the daemon of
	 * @instance runs, in a container or elsewhere, and nothing was removed. */
	enum status (*sweep)(const char *url, const char *instance, const struct sweep_report *report,
			     struct error *err);
	/* Whether the engine's machine has the file or directory at @path, so that it can be mounted into containers. The
	 * question is a create that the engine refuses in either case. Waits for 5 seconds at most, and for ssh to connect.
	 * Outcomes: NOT_FOUND: it does not have the path; UNAVAILABLE: as reach, or no answer. */
	enum status (*has_path)(const char *url, const char *path, struct error *err);
	/* An array of the names by which other containers reach this process: its host name and, if it is in a
	 * container of the engine, that container's name and network aliases. Only the host name if the engine does not
	 * answer. The caller frees it. */
	json_t *(*own_names)(const char *url);
};

/* The kind of engine for @url, such as "unix:///var/run/docker.sock"; NULL: there is none. */
const struct engine_kind *engine_kind_of(const char *url);
/* The engines of one daemon, which hand images on to each other. It must outlive them. Thread: any. */
struct engine_group *engine_group_new(void);
void engine_group_free(struct engine_group *group);
/* The URL that the user's other tools use for their engine, from DOCKER_HOST or a context of Docker; otherwise the
 * usual socket. The caller frees it. */
char *engine_url_default(void);
