/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/base/tree.h"
#include "daemon/clean.h"
#include "daemon/cli/client.h"
#include "daemon/cli/daemon_child.h"
#include "daemon/cli/invocation.h"
#include "daemon/env.h"
#include "daemon/main.h"
#include "daemon/serve.h"

/* What shells add to the number of a signal. */
enum { SIGNALLED = 128 };

struct exec {
	struct config *config;
	const char *const *command;
	bool temporary;                /* the state directory is of this run alone */
	pid_t daemon_pid, command_pid; /* 0: there is none */
	int ready_fd;                  /* what the daemon prints; -1: it is ready */
	int signal_fd;
	sigset_t before; /* the signals that were blocked when the program began */
	int exit_code;   /* -1: not decided */
};

const char *const exec_config[] = {
	"--listen=127.0.0.1:0", "--grpc=127.0.0.1:0", "--state-dir=" EXEC_STATE_DIR,
	"--log-level=warning",  "--stop-jobs",        NULL,
};

/* ---- the daemon ---- */

static enum status state_dir_make(struct exec *exec, struct error *err)
{
	const char *told = getenv("TMPDIR"), *parent = told && *told ? told : "/tmp";

	exec->temporary = strcmp(exec->config->state_dir, EXEC_STATE_DIR) == 0;
	if (!exec->temporary)
		return STATUS_OK;
	free(exec->config->state_dir);
	exec->config->state_dir =
		memory_printf("%s/trainyard-exec-XXXXXX", parent); /* the form that mkdtemp() takes */
	if (mkdtemp(exec->config->state_dir))
		return STATUS_OK;
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "no directory can be made in %s: %s", parent,
			 strerror(errno));
}

/* In a process of its own, which ends when its parent does, however that is: its jobs are stopped then, and what it has in
 * the engine and on the disk is removed. */
static int daemon_main(struct exec *exec, pid_t parent, int ready_fd)
{
	int exit_code;

	setpgid(0, 0); /* a terminal's Ctrl-C is the command's */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		return EXIT_FAILED;
	sigprocmask(SIG_SETMASK, &exec->before, NULL);
	dup2(ready_fd, STDOUT_FILENO);
	close(ready_fd);
	exit_code = serve_main(exec->config);
	if (exit_code == EXIT_GOOD)
		return clean_quietly(exec->config, exec->temporary);
	if (exec->temporary)
		tree_remove(exec->config->state_dir,
			    SIZE_MAX); /* it did not start: the engine has nothing of it */
	return exit_code;
}

static enum status daemon_start(struct exec *exec, struct error *err)
{
	const pid_t parent = getpid();
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		return error_set(err, STATUS_INTERNAL, NULL, "no pipe to the daemon: %s", strerror(errno));
	exec->daemon_pid = fork();
	if (exec->daemon_pid == 0) {
		close(fds[0]);
		_exit(daemon_main(exec, parent, fds[1]));
	}
	close(fds[1]);
	exec->ready_fd = fds[0];
	return exec->daemon_pid > 0 ? STATUS_OK
				    : error_set(err, STATUS_INTERNAL, NULL, "no process for the daemon: %s",
						strerror(errno));
}

/* ---- the command ---- */

static void variable_set(void *arg, const char *name, const char *value)
{
	(void)arg;
	setenv(name, value, 1);
}

/* Where gRPC is served is known to the daemon alone, which took any free port. */
static enum status grpc_endpoint_set(const struct exec *exec, const char *url, struct error *err)
{
	AUTO(client) struct client *client = NULL;
	AUTO(json) json_t *health = NULL;
	char endpoint[64];
	int64_t port;
	enum status rc = client_open(url, exec->config->token_file, &client, err);

	if (!rc)
		rc = client_call(client, "GET", "/healthz", NULL, &health, err);
	if (rc)
		return rc;
	port = json_int_at(json_object_get(health, "grpc"), "port", 0);
	snprintf(endpoint, sizeof(endpoint), "localhost:%lld", (long long)port);
	if (port)
		setenv("TRAINYARD_GRPC_ENDPOINT", endpoint, 1);
	return STATUS_OK;
}

static enum status environment_set(const struct exec *exec, const char *url, struct error *err)
{
	struct env_settings settings AUTO_ENV_SETTINGS = { .shell = SHELL_SH };
	enum status rc = env_settings_find(exec->config, url, &settings, err);

	if (rc)
		return rc;
	env_each(&settings, variable_set, NULL);
	return grpc_endpoint_set(exec, url, err);
}

static int command_not_started(const struct exec *exec, int problem)
{
	fprintf(stderr, "trainyard: %s: %s\n", exec->command[0], strerror(problem));
	return EXIT_NOT_STARTED;
}

static void command_start(struct exec *exec, const char *url)
{
	struct error err AUTO_ERROR = { 0 };

	if (environment_set(exec, url, &err)) {
		main_failure(&err);
		exec->exit_code = EXIT_NOT_STARTED;
		return;
	}
	exec->command_pid = fork();
	if (exec->command_pid == 0) {
		sigprocmask(SIG_SETMASK, &exec->before, NULL);
		execvp(exec->command[0], (char *const *)exec->command);
		_exit(command_not_started(exec, errno));
	}
	if (exec->command_pid < 0)
		exec->exit_code = command_not_started(exec, errno);
}

/* ---- what happens meanwhile ---- */

static int exit_code_of(int status)
{
	return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Where the daemon ends before the command, one line says so; the command goes on, and nothing answers it any more. */
static void children_reap(struct exec *exec)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == exec->command_pid) {
			exec->command_pid = 0;
			exec->exit_code = exit_code_of(status);
		} else if (pid == exec->daemon_pid) {
			exec->daemon_pid = 0;
			if (exec->command_pid)
				fprintf(stderr,
					"trainyard: the daemon ended (%s %d) while the command runs\n",
					WIFSIGNALED(status) ? "signal" : "exit code",
					WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
			else if (exec->exit_code < 0)
				exec->exit_code = EXIT_NOT_STARTED; /* it has said why */
		}
}

/* A terminal sends its own to the whole group, and so to the command as well. */
static void signal_pass(struct exec *exec, const struct signalfd_siginfo *signal)
{
	if (exec->command_pid && signal->ssi_code != SI_KERNEL)
		kill(exec->command_pid, (int)signal->ssi_signo);
	else if (!exec->command_pid && exec->exit_code < 0)
		exec->exit_code = SIGNALLED + (int)signal->ssi_signo;
}

static void signals_take(struct exec *exec)
{
	struct signalfd_siginfo signal;

	while (read(exec->signal_fd, &signal, sizeof(signal)) == (ssize_t)sizeof(signal))
		if (signal.ssi_signo == SIGCHLD)
			children_reap(exec);
		else
			signal_pass(exec, &signal);
}

static void command_run(struct exec *exec)
{
	struct ready_line line = { 0 };

	while (exec->exit_code < 0) {
		struct pollfd polled[] = { { .fd = exec->signal_fd, .events = POLLIN },
					   { .fd = exec->ready_fd, .events = POLLIN } };

		poll(polled, 2, -1);
		signals_take(exec);
		if (!polled[1].revents || exec->exit_code >= 0)
			continue;
		switch (ready_line_read(&line, exec->ready_fd)) {
		case READY_NOT_YET:
			break;
		case READY:
			exec->ready_fd = -1; /* stays open: the daemon may print on */
			command_start(exec, line.url);
			break;
		case READY_NEVER:
			exec->ready_fd = -1; /* its end is told by SIGCHLD */
			break;
		}
	}
}

/* Signals are blocked here: the daemon's own limits end the wait, and kill -9 ends it at once. */
static void daemon_stop(struct exec *exec)
{
	int status;

	if (!exec->daemon_pid)
		return;
	kill(exec->daemon_pid, SIGTERM);
	while (waitpid(exec->daemon_pid, &status, 0) < 0 && errno == EINTR)
		;
}

int exec_main(struct invocation *invocation)
{
	struct exec exec = {
		.config = &invocation->config, .command = invocation->command, .ready_fd = -1, .exit_code = -1
	};
	struct error err AUTO_ERROR = { 0 };
	sigset_t signals;

	if (!exec.command || !exec.command[0]) {
		error_set(&err, STATUS_INVALID_ARGUMENT, NULL,
			  "the command is missing: trainyard exec -- COMMAND");
		return main_usage_error("exec ", &err);
	}
	sigemptyset(&signals);
	for (const int *one = (const int[]){ SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, 0 };
	     *one; one++)
		sigaddset(&signals, *one);
	sigprocmask(SIG_BLOCK, &signals, &exec.before);
	exec.signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	if (state_dir_make(&exec, &err) || daemon_start(&exec, &err)) {
		main_failure(&err);
		return EXIT_NOT_STARTED;
	}
	command_run(&exec);
	daemon_stop(&exec);
	return exec.exit_code;
}
