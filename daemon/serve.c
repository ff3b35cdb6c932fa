/* SPDX-License-Identifier: Apache-2.0 */
/* The command `trainyard serve`: starts the daemon, and runs it until a signal ends it. */
#include "daemon/serve.h"

#include <jansson.h>
#include <malloc.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/training/regions.h"
#include "daemon/address_file.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/nearest.h"
#include "daemon/base/text.h"
#include "daemon/config.h"
#include "daemon/config_listen.h"
#include "daemon/config_variables.h"
#include "daemon/main.h"
#include "daemon/wiring.h"
#include "scheduler/engine/engine.h"
#include "store/objects/hasher.h"

/* The least limit of open descriptors that serve accepts. The API alone may have 512 connections, gRPC 128. The servers
 * of one job poll up to 130 descriptors, and poll() refuses more than the limit. */
enum { DESCRIPTORS_LEAST = 1024 };

/* Raises the soft limit of open descriptors, often 1024, to the hard limit. At the limit the daemon could neither serve
 * nor stop cleanly. */
static enum status descriptors_raise(struct error *err)
{
	struct rlimit limit = { 0 }, raised;

	getrlimit(RLIMIT_NOFILE, &limit);
	raised = (struct rlimit){ .rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max };
	if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
		limit = raised;
	if (limit.rlim_cur >= DESCRIPTORS_LEAST)
		return STATUS_OK;
	return error_set(
		err, STATUS_FAILED_PRECONDITION, NULL,
		"this process may open %ju files at once (ulimit -Hn), and serve needs %d for connections, "
		"jobs and its state: raise the limit, as with ulimit -n %d, LimitNOFILE=%d in systemd's unit, or "
		"docker run --ulimit nofile=%d",
		(uintmax_t)limit.rlim_cur, DESCRIPTORS_LEAST, DESCRIPTORS_LEAST, DESCRIPTORS_LEAST,
		DESCRIPTORS_LEAST);
}

/* Limits glibc to one heap. By default, glibc gives threads up to eight heaps for each core, and memory freed in one
 * heap is not used for another: on two cores this held 8 MiB more after some thousand jobs. With one heap, threads may
 * wait for each other in calloc(), and in malloc() of more than 1 KiB. So requests reuse their memory
 * (api/http/exchange.h), and take small blocks by malloc(), which has a cache for each thread (tcache). */
static void heaps_limit(void)
{
	enum { PAGE_OF_LINES_BYTES = 2 << 20 };

	mallopt(M_ARENA_MAX, 1);
	/* Keep the memory for a page of 1000 log lines in the heap, instead of a system call for each page. */
	mallopt(M_MMAP_THRESHOLD, PAGE_OF_LINES_BYTES);
	mallopt(M_TRIM_THRESHOLD, 2 * PAGE_OF_LINES_BYTES);
}

static sigset_t end_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGUSR1);
	return signals;
}

/* Reports that the engine does not answer: as a sentence for people, or as JSON in a log that programs read. */
static void silence_report(const struct config *config, const char *why)
{
	if (config->log_format == LOG_FORMAT_JSON)
		log_event(LOG_WARNING, "engine-unreachable",
			  "error=\"%s\" hint=\"jobs wait until it is there\"", why);
	else
		fprintf(stderr, "trainyard: %s. Jobs wait until it is there.\n", why);
}

static void ready_report(const struct config *config, const struct wiring *wiring)
{
	char address[LISTEN_ADDRESS_SIZE];
	uint16_t port;
	struct text url AUTO_TEXT = { 0 };
	struct error err AUTO_ERROR = { 0 };

	if (config_listen_split(config->listen, address, &port))
		config_url_write(&url, address, wiring_port(wiring));
	else
		text_puts(&url, config->listen); /* "unix:/path" */
	address_file_write(wiring_state_dir(wiring), url.data, wiring_token_file(wiring),
			   wiring_grpc_port(wiring));
	if (engine_kind_of(config->engine)->reach(config->engine, &err))
		silence_report(config, main_words(&err));
	printf("trainyard: listening on %s\n", url.data);
	fflush(stdout);
}

static int failure_report(const struct error *err)
{
	main_failure(err);
	return err->status == STATUS_INVALID_ARGUMENT ? EXIT_USAGE : EXIT_NOT_STARTED;
}

/* Asks the first thread to reopen the state. @arg: a flag, because SIGUSR1 from another program must have no effect. */
static void reopening_want(void *arg)
{
	__atomic_store_n((bool *)arg, true, __ATOMIC_RELEASE);
	kill(getpid(), SIGUSR1);
}

/* Returns @listen with @port in place of the port 0; NULL: @listen has a fixed port already, or is not used. */
static char *address_fix(const char *listen, uint16_t port)
{
	char address[LISTEN_ADDRESS_SIZE];
	uint16_t named = 0;

	if (!listen || !port || !config_listen_split(listen, address, &named) || named)
		return NULL;
	return strchr(address, ':') ? memory_printf("[%s]:%u", address, port)
				    : memory_printf("%s:%u", address, port);
}

/* Replaces the port 0 by the ports in use now, so that clients find a reopened daemon at the same addresses. */
static void addresses_fix(struct config *config, const struct wiring *wiring, char *ret_fixed[2])
{
	ret_fixed[0] = address_fix(config->listen, wiring_port(wiring));
	ret_fixed[1] = address_fix(config->grpc, wiring_grpc_port(wiring));
	if (ret_fixed[0])
		config->listen = ret_fixed[0];
	if (ret_fixed[1])
		config->grpc = ret_fixed[1];
}

/* Serves until SIGTERM or SIGINT. SIGUSR1 reopens the daemon with an imported state. */
static int serve_until_signal(struct config *config, const sigset_t *signals)
{
	bool wanted = false;
	const struct wiring_reopening reopening = { reopening_want, &wanted };
	struct wiring *wiring = NULL;
	struct error err AUTO_ERROR = { 0 };
	AUTO(string) char *fixed_listen = NULL;
	AUTO(string) char *fixed_grpc = NULL;
	AUTO(string) char *state_dir = NULL;
	char *fixed[2];
	int signal_number = 0;

	if (wiring_open(config, &reopening, &wiring, &err))
		return failure_report(&err);
	addresses_fix(config, wiring, fixed);
	fixed_listen = fixed[0];
	fixed_grpc = fixed[1];
	ready_report(config, wiring);
	for (;;) {
		while (sigwait(signals, &signal_number) != 0)
			;
		if (signal_number != SIGUSR1)
			break;
		if (!__atomic_exchange_n(&wanted, false, __ATOMIC_ACQUIRE))
			continue;
		log_event(LOG_INFO, "reopening", "hint=\"an imported state, or an empty one, replaces the present one\"");
		if (!state_dir)
			state_dir = memory_strdup(wiring_state_dir(wiring));
		wiring_close(wiring, false);
		if (wiring_open(config, &reopening, &wiring, &err)) {
			address_file_remove(state_dir);
			return main_failure(&err);
		}
	}
	log_event(LOG_INFO, "stopping", "signal=%s", sigabbrev_np(signal_number));
	/* From now on a second signal ends the process at once. This loses nothing: acknowledged requests are on disk. */
	pthread_sigmask(SIG_UNBLOCK, signals, NULL);
	address_file_remove(wiring_state_dir(wiring));
	wiring_close(wiring, config->stop_jobs);
	return EXIT_GOOD;
}

static void variable_log(const char *name, const char *hint)
{
	log_event(LOG_WARNING, "unknown-variable", "name=%s hint=\"it is no option, and is ignored%s\"", name,
		  hint);
}

static void region_check(const struct config *config)
{
	struct nearest nearest = { .wanted = config->region };
	char hint[NEAREST_HINT_SIZE];

	if (config->validation == VALIDATION_LENIENT || region_find(config->region))
		return;
	for (const struct region *region = regions; region->name; region++)
		nearest_look(&nearest, region->name);
	log_event(LOG_WARNING, "unknown-region",
		  "region=%s hint=\"clients are pointed to it, and jobs there are refused without --validation lenient%s\"",
		  config->region, nearest_hint(&nearest, "", hint));
}

int serve_main(const struct config *config)
{
	sigset_t signals = end_signals();
	struct error err AUTO_ERROR = { 0 };

	heaps_limit();
	hasher_limit_openssl(); /* before any thread */
	log_configure(config->log_level, config->log_format);
	config_unknown_variables(variable_log);
	region_check(config);
	if (sodium_init() < 0) {
		fprintf(stderr, "trainyard: libsodium cannot start\n");
		return EXIT_NOT_STARTED;
	}
	memory_init();
	json_object_seed(0);
	umask(077); /* files in the state directory are accessible to their owner only */
	if (descriptors_raise(&err))
		return failure_report(&err);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* at a file size limit (ulimit -f), writes fail with an error that is reported, and
	                           * the process continues */
	pthread_sigmask(SIG_BLOCK, &signals, NULL); /* every thread inherits it */
	struct config own = *config;                /* addresses_fix() replaces its addresses */

	return serve_until_signal(&own, &signals);
}
