/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/engine.h: the narrow door to whatever runs containers.
 *
 * Asynchronous: an operation is queued and returns at once; its outcome arrives as one event at the
 * sink, from the engine's own thread. Every operation may be repeated safely: what is already so is
 * success. Operations on an unreachable engine fail with UNAVAILABLE; after each (re)connect comes
 * ENGINE_UP and then ENGINE_LISTING, from which the scheduler finds out what to do again.
 *
 * Containers and networks are known by the labels and names made of the instance and the key below,
 * so that they are found again after a restart of either side. */
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

struct engine;
struct file_sink;

/* Everything a container is made of. Strings are borrowed for the call only. */
struct replica_spec {
	struct replica_key key;
	const char *project, *job_id; /* for labels and the container's name */
	const char *image;            /* id as ENGINE_IMAGE_READY gave it */
	const char *hostname;         /* at most 63 bytes */
	const char *alias;            /* the name that peers use */
	const json_t *command;        /* array of strings, or NULL for the image's ENTRYPOINT */
	const json_t *args;           /* array of strings, or NULL for the image's CMD */
	const json_t *env;            /* array of "NAME=value"; each below 131072 bytes or the create fails */
	const json_t *hosts;          /* array of "name:address" for /etc/hosts */
	/* Array of "/of/this/machine:/in/the/container:ro", or NULL. Where the engine's machine does not have them, the container
	 * gets copies: of a file, and of the files right in a directory. Without ":ro" it is a directory below
	 * engine_options.reports_dir, which then gets the files that the container writes right in its own; of any other the
	 * create fails there. */
	const json_t *mounts;
	const char *scratch; /* where an empty directory in memory is that any user may write to, or NULL */
	const char *empty;   /* where an empty directory is that nothing can be written to, or NULL */
	uint16_t
		gateway_port; /* kept in a label: what the containers were told of scheduler/gateway.h; 0: none */
	int64_t made_us;      /* likewise: when it is asked for, by the daemon's wall clock; 0: unsaid */
	const char *network; /* id */
	const char *address; /* IPv4 in that network */
	const json_t *
		device_ids; /* array of ids as struct host has them, or NULL: then NVIDIA_VISIBLE_DEVICES is void */
	int64_t nano_cpus;    /* 0: unlimited; clamped to what the host has */
	int64_t memory_bytes; /* 0: unlimited */
	int64_t shm_bytes;    /* 0: the engine's default */
	unsigned pids_limit;
	unsigned stop_grace_s;
};

enum replica_observed { REPLICA_CREATED, REPLICA_RUNNING, REPLICA_EXITED };

/* What the engine knows of one replica. */
struct replica_status {
	struct replica_key key;
	enum replica_observed observed;
	int exit_code;       /* EXITED: 128+n for signal n */
	bool out_of_memory;  /* EXITED: some process of it was killed for memory */
	bool paused;         /* RUNNING: somebody has frozen it */
	int64_t finished_ns; /* EXITED: the engine's clock */
	bool witnessed; /* EXITED: the engine was there, and can tell that no signal was sent to it that ends a program */
	bool signalled; /* EXITED: the engine can tell that such a signal was; neither: it cannot tell */
	uint16_t gateway_port; /* as the spec had it */
	int64_t made_us;       /* likewise */
};

/* Where the replicas of a network reach this daemon, and how it binds there. */
struct network_reach {
	uint32_t address; /* host byte order; the daemon can bind to it */
	char device
		[16]; /* of this machine, by which all replicas come in: "br-0123456789ab"; "": none is known */
};

struct network_status {
	int64_t job; /* that it was made for; others may take it over: network_pool.h */
	char id[80];
	struct network_reach reach;
	uint32_t first;    /* the first address for replicas, host byte order */
	unsigned capacity; /* how many there are for them */
};

enum engine_event_kind {
	ENGINE_UP,      /* reachable; text: name and version; host: what its machine has */
	ENGINE_DOWN,    /* unreachable; text: why. Sent once per loss */
	ENGINE_LISTING, /* all that is ours: replicas[], networks[]. After UP and every 30 s. Never older
				  * than an event that came before it; what is only asked for may be missing */
	ENGINE_IMAGE_PROGRESS,  /* image, text: a line worth showing (not more than one in two seconds) */
	ENGINE_IMAGE_READY,     /* image (as asked for), text: the id to run */
	ENGINE_IMAGE_FAILED,    /* image, status, text */
	ENGINE_NETWORK_READY,   /* job, networks[0] */
	ENGINE_NETWORK_FAILED,  /* job, status, text */
	ENGINE_NETWORK_REMOVED, /* job; also when there was none */
	ENGINE_NETWORKS_FREE,   /* status OK: free_blocks; else text: why no network could be made now */
	ENGINE_REPLICA_CREATED, /* replicas[0].key */
	ENGINE_REPLICA_STARTED, /* replicas[0].key */
	ENGINE_REPLICA_FAILED, /* replicas[0].key; status, text: create or start refused. NOT_FOUND of a start: its
				  * network is gone */
	ENGINE_REPLICA_EXITED,  /* replicas[0]: whole status */
	ENGINE_REPLICA_REMOVED, /* replicas[0].key; by us, already gone, or behind our back */
	ENGINE_REPLICA_PAUSED,  /* replicas[0].key, paused: somebody has frozen it, or let it go on */
	ENGINE_LOGS_ENDED, /* replicas[0].key: the container has exited and each of its lines was handed over */
	ENGINE_THROTTLE_FAILED, /* replicas[0].key; status, text: its network is as fast as it was. FAILED_PRECONDITION:
				  * asking again is of no use */
	ENGINE_FAILED, /* an operation that only repeats (stop, remove, link, remove network) failed:
	                          * replicas[0].key or job, status, text; the next listing shows what is left */
};

struct engine_event {
	enum engine_event_kind kind;
	int64_t job;
	const char *image;
	enum status status;
	const char *text; /* the engine's own words; never NULL */
	const struct replica_status *replicas;
	size_t replica_count;
	const struct network_status *networks;
	size_t network_count;
	unsigned free_blocks;    /* NETWORKS_FREE */
	const struct host *host; /* UP */
};

/* Free blocks are counted up to there. */
enum { FREE_BLOCKS_MAX = 64 };

/* One whole line of a replica's output. */
struct replica_line {
	struct replica_key key;
	int stream;      /* 1 stdout, 2 stderr */
	int64_t time_ns; /* the engine's clock; grows within one stream of one container, unless it is put back */
	const char *data; /* without the newline; any bytes; at most ENGINE_LINE_MAX */
	size_t length;
	bool continues;         /* the line was too long: its next part follows */
	struct log_reach reach; /* of its stream, this line or part included */
};

/* A longer line is cut into parts of this size or up to three bytes less, so that no UTF-8 sequence is
 * split (Cloud Logging takes entries up to 256 KiB). They share one time_ns; only the last of them
 * carries continues = false. */
enum { ENGINE_LINE_MAX = 240 * 1024 };

/* How a replica is to be on its network. Strings are borrowed for the call only. */
struct replica_link {
	const char *network;         /* id */
	const char *address, *alias; /* as its replica_spec had them; NULL: not at all */
};

struct engine_sink {
	/* Called on the engine's thread; the event is borrowed. Must not block. */
	void (*event)(void *arg, const struct engine_event *event);
	/* Takes a copy of the line. False: no room now; the engine keeps the line, stops reading that
	 * stream, and tries again after engine_resume_logs(). */
	bool (*line)(void *arg, const struct replica_line *line);
	void *arg;
};

/* How a program beside a replica's own is joined to its caller. */
enum terminal_kind {
	TERMINAL_SCREEN, /* a terminal: one stream both ways */
	/* Pipes. What is read comes in frames: a byte, 1 of stdout and 2 of stderr, three zero bytes, the length in four bytes,
	 * highest first, and so many bytes. They may be split anywhere. */
	TERMINAL_PIPES,
};

/* A program beside a replica's own. One thread may read while another writes or resizes; close() comes after them. It may
 * outlive the engine that it was opened by. */
struct terminal;

struct terminal_ops {
	/* What was printed, as it comes: the number of bytes; 0: nothing within @timeout_ms; -1: it is over. */
	ssize_t (*read)(struct terminal *terminal, char *buffer, size_t size, unsigned timeout_ms);
	/* What is typed. Waits while the program does not read. False: it is over, or took nothing for ten seconds, through
	 * pipes for a minute. */
	bool (*write)(struct terminal *terminal, const char *data, size_t length);
	/* The end of what is typed, of TERMINAL_PIPES. */
	void (*end_input)(struct terminal *terminal);
	void (*resize)(struct terminal *terminal, unsigned columns, unsigned rows);
	/* Of a program that is over; -1: not known. Asks the engine. */
	int (*exit_code)(struct terminal *terminal);
	/* Ends the connection. A program that still runs gets a hangup, and so do those that it began; what is left
	 * of them a second later is killed. Asks the engine for that: a moment, ten seconds at most for each of
	 * two questions when it does not answer. */
	void (*close)(struct terminal *terminal);
};

/* Implementations begin with this. */
struct terminal {
	const struct terminal_ops *ops;
};

/* A file for a container. */
struct engine_file {
	const char *path; /* in the container: absolute, at most 100 bytes after the slash */
	const char *data;
	size_t size;
	unsigned mode; /* 0444; it is root's */
};

/* All files of one call together. */
enum { ENGINE_FILES_MAX = 64 << 20 };

struct engine_ops {
	/* Makes the image present: looks, and pulls when it is missing (never when the engine was opened
	 * offline). One pull at a time per image, however many ask: one event answers all. */
	void (*ensure_image)(struct engine *engine, const char *image);
	/* @address_count: how many replicas it must hold. */
	void (*create_network)(struct engine *engine, int64_t job, unsigned address_count);
	/* For how many networks that hold @address_count replicas the pool has free blocks: NETWORKS_FREE tells.
	 * Networks that are asked for later, or by others, may take them. */
	void (*look_for_networks)(struct engine *engine, unsigned address_count);
	void (*remove_network)(struct engine *engine, int64_t job);
	void (*create_replica)(struct engine *engine, const struct replica_spec *spec);
	void (*start_replica)(struct engine *engine, const struct replica_key *key);
	/* SIGTERM, and SIGKILL after @grace_s (0: at once). Its end arrives as REPLICA_EXITED, once more if it had
	 * ended before. A start that was asked for and has not begun is taken back: REPLICA_CREATED; one that has
	 * begun comes first. */
	void (*stop_replica)(struct engine *engine, const struct replica_key *key, unsigned grace_s);
	/* With its anonymous volumes; kills it if it still runs. */
	void (*remove_replica)(struct engine *engine, const struct replica_key *key);
	/* Takes a running replica off its network, or puts it back. What is asked last counts. Nothing tells that it is
	 * done; ENGINE_FAILED when it is not. */
	void (*link_replica)(struct engine *engine, const struct replica_key *key,
			     const struct replica_link *link);
	/* What a running replica sends, and what it gets, goes no faster than that; 0: as fast as it can again. It
	 * ends with the container. What is asked last counts. Nothing tells that it is done; ENGINE_THROTTLE_FAILED
	 * when it is not. */
	void (*throttle_replica)(struct engine *engine, const struct replica_key *key, unsigned bytes_per_s);
	/* Hands over each line after @from, in order within a stream, follows until the container exits,
	 * reads once more what a broken stream may have missed, then sends LOGS_ENDED. Survives losses of
	 * the engine: it continues by itself after a reconnect. Asking again for a followed one is nothing.
	 * A replica that never started or is gone ends at once. */
	void (*follow_logs)(struct engine *engine, const struct replica_key *key,
			    const struct log_position *from);
	/* The line sink has room again. Thread: any. */
	void (*resume_logs)(struct engine *engine);
	/* Runs @command (array of strings) beside a running replica's program, through pipes or on a terminal of its own, of
	 * 80 columns and 24 rows at first. Blocks for a moment, on a connection of its own: until the program runs. Thread: any.
	 * Outcomes: NOT_FOUND: no such replica; FAILED_PRECONDITION: it does not run, or has no such program;
	 *           UNAVAILABLE: the engine does not answer. */
	enum status (*open_terminal)(struct engine *engine, const struct replica_key *key,
				     const json_t *command, enum terminal_kind kind,
				     struct terminal **ret_terminal, struct error *err);
	/* Puts files into a container, which may run or not; missing directories are made. So that no path of this machine
	 * is in a container's description. Blocks, on a connection of its own; so does get_files(). Thread: any.
	 * Choice: what a replica gets is mounted where the engine has this machine's files: with Docker this costs 110 to 220 ms
	 * beside the 480 to 800 ms of a start (measured 2026-11-25, 20.10 on a busy machine).
	 * Outcomes: NOT_FOUND: no such replica; RESOURCE_EXHAUSTED: more than ENGINE_FILES_MAX. */
	enum status (*put_files)(struct engine *engine, const struct replica_key *key,
				 const struct engine_file *files, size_t count, struct error *err);
	/* Hands over the file at @path, or all those below it, while the container runs and after its end. Other things than
	 * files are left out. Outcomes: NOT_FOUND: no such replica, or no such path; RESOURCE_EXHAUSTED: files have more than
	 * @bytes_max bytes: some of them may have been handed over. */
	enum status (*get_files)(struct engine *engine, const struct replica_key *key, const char *path,
				 size_t bytes_max, const struct file_sink *sink, struct error *err);
	/* Looks into an image, for containers with @command and @args (arrays of strings; NULL: they stay) instead of its
	 * ENTRYPOINT and CMD. @with_program: also whether the program is there, for which a container is made and removed.
	 * Blocks, on a connection of its own. Thread: any.
	 * Outcomes: NOT_FOUND: the engine does not have it; INVALID_ARGUMENT: it is no image's name. */
	enum status (*inspect_image)(struct engine *engine, const char *image, const json_t *command,
				     const json_t *args, bool with_program, struct image_facts *ret_facts,
				     struct error *err);
	/* Sends a listing soon. */
	void (*list)(struct engine *engine);
	/* Ends the engine's thread; no event comes after it returned. Containers are left as they are. */
	void (*close)(struct engine *engine);
};

/* Implementations begin with this. */
struct engine {
	const struct engine_ops *ops;
};

/* What an engine is opened with. Strings are borrowed for the call only. */
struct engine_options {
	const char *url;      /* says which engine, and where: engine_kind_of() */
	const char *instance; /* marks what is ours: lowercase letters and digits, at most 32 */
	const char *networks; /* pool for job networks, "10.213.0.0/16" */
	const char
		*registry_config; /* directory with config.json for registry credentials, or NULL for none */
	const char *
		state_dir; /* by which it is found out whether the engine has this machine's files; NULL: it has */
	const char *
		reports_dir; /* of directories that containers write to, each named by its job; NULL: there are none */
	bool offline; /* never pull */
	bool internal; /* job networks are cut off from the outside; replicas reach each other and the network's gateway */
};

/* How a sweep reports. */
struct sweep_report {
	/* Called for each thing that was removed, @problem NULL, and at last for each that could not be, with
	 * the engine's words. Borrowed. */
	void (*reported)(void *arg, const struct orphan *item, const char *problem);
	void *arg;
};

/* One kind of engine: a row of the table in engine.c. All but open() wait for the engine, on the caller's thread. */
struct engine_kind {
	bool (*url_valid)(const char *url); /* whether it is reached by such a URL */
	/* Starts the engine's thread and returns without waiting for the engine: it may be down.
	 * INVALID_ARGUMENT in one line: an option cannot be used. */
	enum status (*open)(const struct engine_options *options, const struct engine_sink *sink,
			    struct engine **ret_engine, struct error *err);
	/* Connects to a unix socket, and waits for nothing else: whether an engine answers there shows later; one that is
	 * reached over a network answers a question.
	 * UNAVAILABLE: not there, not running, or this user may not use it; the text says which, and what helps. */
	enum status (*reach)(const char *url, struct error *err);
	/* Members of what it says of itself: "ServerVersion", "MemTotal" and others of Docker's /info and /version, and "Place":
	 * where it is, for people. The caller frees them. UNAVAILABLE: as reach, or no answer. */
	enum status (*describe)(const char *url, json_t **ret_facts, struct error *err);
	/* What @instance has in the engine, or with NULL any instance. The list is sorted. UNAVAILABLE: no answer. */
	enum status (*list)(const char *url, const char *instance, struct orphans *ret_list,
			    struct error *err);
	/* Removes the containers (killed when they run), their anonymous volumes, and the networks of @instance, until the
	 * engine has none. Nobody else's are touched: a network that a container of somebody else is in stays.
	 * FAILED_PRECONDITION: some are left; each was told. Or the daemon of @instance runs in a container of the engine:
	 * nothing was removed. */
	enum status (*sweep)(const char *url, const char *instance, const struct sweep_report *report,
			     struct error *err);
	/* An array of the names that other containers know this process by: its host's, and where it is in a container of the
	 * engine, that one's name and aliases in its networks. The host's alone where the engine does not answer. The caller
	 * frees it. */
	json_t *(*own_names)(const char *url);
};

/* The engine that is reached by @url, such as "unix:///var/run/docker.sock"; NULL: none is. */
const struct engine_kind *engine_kind_of(const char *url);
/* The URL that the user's other tools have for their engine, by DOCKER_HOST or a context of Docker's; else the usual socket's.
 * The caller frees it. */
char *engine_url_default(void);
