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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/grpc/front.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/clock.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/base/tree.h"
#include "daemon/clean.h"
#include "daemon/cli/daemon_child.h"
#include "daemon/cli/invocation.h"
#include "daemon/credentials.h"
#include "daemon/env.h"
#include "daemon/main.h"
#include "daemon/serve.h"
#include "store/small_file.h"
#include "store/state_dir.h"
#include "store/state_export.h"
#include "store/state_import.h"

/* SIGNALLED: shells add it to a signal's number to make the exit code. */
enum { SIGNALLED = 128, NOTE_MS = 20, SILENT_MS = 1000, START_US = 120000000 };

struct exec {
	struct config *config;
	const char *const *command;
	bool temporary;                             /* the state directory is removed at the end of this run */
	pid_t daemon_pid, command_pid, witness_pid; /* 0: there is none */
	int ready_fd;                               /* the daemon's output; -1: closed */
	int signal_fd, note_fd;
	bool serves, killed;        /* serves: the daemon was ready; killed: a signal ended it before it could clean up */
	bool failed;                /* the daemon could not clean up */
	unsigned hurries;           /* number of signals received while the daemon stops its jobs */
	sigset_t taken;             /* the signals that are passed on, and SIGCHLD */
	sigset_t before;            /* the signals that were blocked when the program began */
	void (*output_before)(int); /* the handler of SIGTTOU when the program began */
	int credentials_fd;         /* from credentials_promise(): the file is filled when a program opens it; -1: none */
	char *url;                  /* the daemon's URL; NULL until it serves */
	const char *import, *export; /* folders of states; NULL: none */
	int64_t start_us;            /* limit for the time until the daemon serves */
	int exit_code;               /* -1: not decided */
};

#define EXEC_GRPC "127.0.0.1:0"
const char *const exec_config[] = {
	"--listen=127.0.0.1:0", "--grpc=" EXEC_GRPC, "--state-dir=" EXEC_STATE_DIR, "--stop-jobs", NULL,
};

/* ---- the daemon ---- */

/* Chooses the name of the temporary directory. The daemon makes the directory, so that it never exists without a process
 * that removes it. */
static enum status state_dir_name(struct exec *exec, struct error *err)
{
	const char *reported = getenv("TMPDIR"), *place = reported && *reported ? reported : "/tmp";
	AUTO(string) char *parent = realpath(place, NULL);
	char suffix[SMALL_FILE_SUFFIX_SIZE];

	exec->temporary = strcmp(exec->config->state_dir, EXEC_STATE_DIR) == 0;
	if (!exec->temporary)
		return STATUS_OK;
	if (!parent)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "cannot make a directory in %s: %s",
				 place, strerror(errno));
	small_file_suffix(suffix);
	free(exec->config->state_dir);
	/* The name is short, because paths of unix sockets in the directory have a limit. */
	exec->config->state_dir = memory_printf("%s/trainyard-exec%.9s", parent, suffix);
	return STATUS_OK;
}

/* Fills the state directory from --import. Refuses one that has a state already: only the first run imports. */
static int state_import(const struct exec *exec)
{
	const char *state_dir = exec->config->state_dir;
	AUTO(string) char *own = memory_printf("%s/state.db", state_dir);
	struct import_facts facts;
	struct error err AUTO_ERROR = { 0 };
	enum status rc;

	if (access(own, F_OK) == 0)
		rc = error_set(&err, STATUS_FAILED_PRECONDITION, NULL,
			       "--import: %s has a state already: give another --state-dir", state_dir);
	else
		rc = state_dir_make(state_dir, &err);
	if (!rc)
		rc = state_import_folder(state_dir, exec->import, &facts, &err);
	return rc ? main_failure(&err) : EXIT_GOOD;
}

/* Exports the state: after the jobs have stopped, and before the state directory is removed. */
static int state_export(const struct exec *exec)
{
	struct error err AUTO_ERROR = { 0 };

	return state_export_into(exec->config->state_dir, exec->export, &err) ? main_failure(&err)
									      : EXIT_GOOD;
}

/* Runs the daemon in a process of its own, which ends whenever its parent ends: it then stops its jobs and removes all
 * that it has in the engine and on the disk. SIGTERM is blocked from the beginning until serve_main() handles it. */
static int daemon_main(struct exec *exec, pid_t parent, int ready_fd)
{
	struct config *config = exec->config;
	sigset_t blocked = exec->before, ends;
	bool served;
	int exit_code;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigorset(&blocked, &blocked, &ends);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		return EXIT_FAILED;
	daemon_child_begin(ready_fd, -1);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	if (exec->temporary && mkdir(config->state_dir, 0700) != 0) {
		fprintf(stderr, "trainyard: %s cannot be made: %s\n", config->state_dir, strerror(errno));
		return EXIT_FAILED;
	}
	exit_code = exec->import ? state_import(exec) : EXIT_GOOD;
	served = !exit_code;
	if (served)
		exit_code = serve_main(config);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	if (served && exit_code == EXIT_GOOD) {
		const int exported = exec->export ? state_export(exec) : EXIT_GOOD;

		exit_code = clean_quietly(config, exec->temporary);
		return exported ? exported : exit_code;
	}
	if (exec->temporary)
		tree_remove(config->state_dir, SIZE_MAX); /* the daemon did not start, so the engine has nothing of it */
	return exit_code;
}

static enum status daemon_start(struct exec *exec, struct error *err)
{
	const pid_t parent = getpid();
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		return error_set(err, STATUS_INTERNAL, NULL, "cannot make a pipe to the daemon: %s",
				 strerror(errno));
	exec->daemon_pid = fork();
	if (exec->daemon_pid == 0) {
		close(fds[0]);
		_exit(daemon_main(exec, parent, fds[1]));
	}
	close(fds[1]);
	exec->ready_fd = fds[0];
	return exec->daemon_pid > 0 ? STATUS_OK
				    : error_set(err, STATUS_INTERNAL, NULL,
						"cannot start a process for the daemon: %s", strerror(errno));
}

/* ---- the command ---- */

/* Sets a variable; NULL: unsets it, because the environment may have a value for another daemon. */
static void variable_set(void *arg, const char *name, const char *value)
{
	(void)arg;
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

/* Sets the options of this run in the environment, so that `env` and `stop` called by the command use this daemon. */
static void own_options_set(const struct config *config)
{
	AUTO(string) char *state_dir = realpath(config->state_dir, NULL);

	variable_set(NULL, "TRAINYARD_STATE_DIR", state_dir ? state_dir : config->state_dir);
	variable_set(NULL, "TRAINYARD_PROJECT", config->project);
	variable_set(NULL, "TRAINYARD_REGION", config->region);
	variable_set(NULL, "TRAINYARD_STORAGE_ENDPOINT", config->storage_endpoint);
	variable_set(NULL, "TRAINYARD_LISTEN", NULL);
	variable_set(NULL, "TRAINYARD_GRPC", NULL);
	variable_set(NULL, "TRAINYARD_CONFIG", NULL);
}

/* Sets the environment of the command. The credentials file is made on demand only in a temporary state directory: a
 * directory that stays may have the file already, and programs may read the file after this run. */
static enum status environment_set(struct exec *exec, struct error *err)
{
	struct env_settings settings AUTO_ENV_SETTINGS = { .shell = SHELL_SH };
	enum status rc;

	if (exec->temporary)
		exec->credentials_fd =
			credentials_promise(exec->config->state_dir, &settings.credentials);
	rc = env_settings_find(exec->config, exec->url, &settings, err);
	if (rc)
		return rc;
	env_each(&settings, variable_set, NULL);
	own_options_set(exec->config);
	return STATUS_OK;
}

/* Fills the credentials file. Called when a program opens the file: its open() waits until this is done. */
static void credentials_make(struct exec *exec)
{
	struct error err AUTO_ERROR = { 0 };

	if (exec->credentials_fd >= 0 &&
	    credentials_fill(exec->credentials_fd, exec->config->state_dir, exec->url, exec->config->project,
			     &err))
		main_failure(&err);
	exec->credentials_fd = -1;
}

/* Starts a process that notes the signals that it receives. A signal to the whole process group, such as Ctrl-C on a
 * terminal, reaches the command directly, while a signal to this process alone must be passed on. If the witness
 * received the signal too, it went to the group. */
static void witness_start(struct exec *exec)
{
	int fds[2], number;

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0)
		return;
	exec->witness_pid = fork();
	if (exec->witness_pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fds[1], STDOUT_FILENO);
		closefrom(STDERR_FILENO + 1);
		close(STDIN_FILENO);
		close(STDERR_FILENO);
		while (sigwait(&exec->taken, &number) == 0 &&
		       write(STDOUT_FILENO, &(char){ (char)number }, 1) == 1)
			;
		_exit(EXIT_GOOD);
	}
	close(fds[1]);
	exec->note_fd = fds[0];
}

/* Returns true if the witness received this signal, too. Earlier notes are skipped: they are of signals that arrived
 * while no command ran. */
static bool group_has_had(const struct exec *exec, int number)
{
	struct pollfd polled = { .fd = exec->note_fd, .events = POLLIN };
	char noted = 0;

	if (exec->witness_pid <= 0 || getpgid(exec->command_pid) != getpgrp())
		return false;
	while (noted != number && poll(&polled, 1, NOTE_MS) == 1 && read(exec->note_fd, &noted, 1) == 1)
		;
	return noted == number;
}

static int command_not_started(const struct exec *exec, int problem)
{
	fprintf(stderr, "trainyard: %s: %s\n", exec->command[0], strerror(problem));
	return EXIT_NOT_STARTED;
}

static void command_start(struct exec *exec, const char *url)
{
	struct error err AUTO_ERROR = { 0 };

	exec->url = memory_strdup(url);
	if (environment_set(exec, &err)) {
		main_failure(&err);
		exec->exit_code = EXIT_NOT_STARTED;
		return;
	}
	witness_start(exec);
	exec->command_pid = fork();
	if (exec->command_pid == 0) {
		sigprocmask(SIG_SETMASK, &exec->before, NULL);
		signal(SIGTTOU, exec->output_before);
		execvp(exec->command[0], (char *const *)exec->command);
		_exit(command_not_started(exec, errno));
	}
	if (exec->command_pid < 0)
		exec->exit_code = command_not_started(exec, errno);
}

/* ---- while the command runs ---- */

static int exit_code_of(int status)
{
	return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Notes how the daemon ended. If it ends before the command, prints one line; the command continues without a daemon. */
static void daemon_end_note(struct exec *exec, int status)
{
	exec->daemon_pid = 0;
	exec->killed = WIFSIGNALED(status);
	exec->failed = exec->serves && WIFEXITED(status) && WEXITSTATUS(status) != EXIT_GOOD;
	if (exec->command_pid)
		fprintf(stderr, "trainyard: the daemon ended (%s %d) while the command runs\n",
			WIFSIGNALED(status) ? "signal" : "exit code",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	else if (exec->exit_code < 0)
		exec->exit_code = EXIT_NOT_STARTED; /* the daemon has printed the reason */
}

static void children_reap(struct exec *exec)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == exec->command_pid) {
			exec->command_pid = 0;
			exec->exit_code = exit_code_of(status);
		} else if (pid == exec->daemon_pid) {
			daemon_end_note(exec, status);
		} else if (pid == exec->witness_pid) {
			exec->witness_pid = 0;
		}
}

/* Handles a signal while the daemon stops its jobs: the first prints a line, the second kills the daemon. */
static void stop_hasten(struct exec *exec)
{
	if (exec->hurries++ == 0)
		fprintf(stderr,
			"trainyard: the jobs are being stopped, which takes %lld s at most for each replica; once "
			"more, and they are killed\n",
			(long long)exec->config->stop_grace_s);
	else if (exec->daemon_pid)
		kill(exec->daemon_pid, SIGKILL);
}

static void signal_take(struct exec *exec, int number)
{
	if (exec->command_pid) {
		if (!group_has_had(exec, number))
			kill(exec->command_pid, number);
	} else if (exec->exit_code < 0) {
		exec->exit_code = SIGNALLED + number;
	} else {
		stop_hasten(exec);
	}
}

static void signals_take(struct exec *exec)
{
	struct signalfd_siginfo signal;

	while (read(exec->signal_fd, &signal, sizeof(signal)) == (ssize_t)sizeof(signal))
		if (signal.ssi_signo == SIGCHLD)
			children_reap(exec);
		else if (signal.ssi_signo == SIGIO)
			credentials_make(exec);
		else
			signal_take(exec, (int)signal.ssi_signo);
}

/* The timeout for the next event; -1: no limit, because the daemon serves or has ended; 0: its start took too long. */
static int wait_ms(const struct exec *exec, int64_t end_us)
{
	const int64_t left_us = end_us - clock_mono_us(&system_clock);

	if (exec->serves || !exec->daemon_pid)
		return -1;
	return left_us > 0 ? (int)(left_us / 1000 + 1) : 0;
}

/* Kills a daemon that does not start in time. It may hang in a system call that other signals do not end, and has no job
 * yet. rest_clean() removes its files. */
static void daemon_give_up(struct exec *exec)
{
	fprintf(stderr,
		"trainyard: the daemon did not serve within %lld s, and was killed: a disk, a file that an option "
		"names or a name server may not answer; --start-timeout gives it more time\n",
		(long long)(exec->start_us / 1000000));
	kill(exec->daemon_pid, SIGKILL);
	exec->exit_code = EXIT_NOT_STARTED;
}

static void command_run(struct exec *exec)
{
	const int64_t end_us = clock_mono_us(&system_clock) + exec->start_us;
	struct ready_line line = { 0 };

	while (exec->exit_code < 0) {
		struct pollfd polled[] = { { .fd = exec->signal_fd, .events = POLLIN },
					   { .fd = exec->ready_fd, .events = POLLIN } };

		poll(polled, 2, wait_ms(exec, end_us));
		signals_take(exec);
		if (exec->exit_code < 0 && wait_ms(exec, end_us) == 0) {
			daemon_give_up(exec);
			continue;
		}
		if (!polled[1].revents || exec->exit_code >= 0)
			continue;
		switch (ready_line_read(&line, exec->ready_fd)) {
		case READY_NOT_YET:
			break;
		case READY:
			exec->ready_fd = -1; /* the pipe stays open, because the daemon may still print */
			exec->serves = true;
			command_start(exec, line.url);
			break;
		case READY_NEVER:
			exec->ready_fd = -1; /* SIGCHLD will report the daemon's end */
			break;
		}
	}
}

static void daemon_stop(struct exec *exec)
{
	bool reported = !isatty(STDERR_FILENO);

	if (exec->daemon_pid) {
		kill(exec->daemon_pid, SIGTERM);
		kill(exec->daemon_pid, SIGCONT); /* a stopped process would not receive the signal */
	}
	while (exec->daemon_pid) {
		struct pollfd polled = { .fd = exec->signal_fd, .events = POLLIN };

		if (poll(&polled, 1, reported ? -1 : SILENT_MS) == 0) {
			fprintf(stderr, "trainyard: the jobs are being stopped\n");
			reported = true;
		}
		signals_take(exec);
	}
}

/* Removes the remains of a killed daemon. exec->exit_code stays that of the command, unless it is 0 and something could
 * not be removed. */
static void rest_clean(struct exec *exec)
{
	if (exec->killed)
		exec->failed = clean_quietly(exec->config, exec->temporary) != EXIT_GOOD;
	if (exec->temporary)
		tree_remove(exec->config->state_dir, SIZE_MAX);
	if (exec->failed && exec->exit_code == EXIT_GOOD)
		exec->exit_code = EXIT_FAILED;
	if (exec->witness_pid > 0)
		kill(exec->witness_pid, SIGKILL);
}

/* Blocks the signals that this process handles. A signal that was ignored at the start, as by nohup, stays ignored, for
 * the command as well. */
static void signals_block(struct exec *exec)
{
	static const int numbers[] = { SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
	struct sigaction now;
	sigset_t blocked;

	sigemptyset(&exec->taken);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (sigaction(numbers[i], NULL, &now) == 0 &&
		    (now.sa_handler != SIG_IGN || numbers[i] == SIGCHLD))
			sigaddset(&exec->taken, numbers[i]);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGIO, SIG_DFL); /* an ignored signal would not arrive at signal_fd */
	blocked = exec->taken;
	sigaddset(&blocked, SIGIO);
	sigprocmask(SIG_BLOCK, &blocked, &exec->before);
	exec->signal_fd = signalfd(-1, &blocked, SFD_NONBLOCK | SFD_CLOEXEC);
	/* A line printed here must not stop this process if the terminal belongs to another process group, such as one
	 * that the command has made. */
	exec->output_before = signal(SIGTTOU, SIG_IGN);
}

int exec_main(struct invocation *invocation)
{
	struct exec exec = { .config = &invocation->config,
			     .command = invocation->command,
			     .ready_fd = -1,
			     .note_fd = -1,
			     .credentials_fd = -1,
			     .start_us = START_US,
			     .exit_code = -1 };
	struct error err AUTO_ERROR = { 0 };

	if (!exec.command || !exec.command[0]) {
		error_set(&err, STATUS_INVALID_ARGUMENT, NULL,
			  "the command is missing: trainyard exec -- COMMAND");
		return main_usage_error("exec ", &err);
	}
	if (invocation_duration(invocation, "start-timeout", &exec.start_us, &err))
		return main_usage_error("exec ", &err);
	exec.import = invocation_value(invocation, "import");
	exec.export = invocation_value(invocation, "export");
	if (exec.export && access(exec.export, F_OK) == 0) {
		error_set(&err, STATUS_INVALID_ARGUMENT, NULL, "--export: %s is there already", exec.export);
		return main_usage_error("exec ", &err);
	}
	/* A build without gRPC drops exec's own default of --grpc instead of refusing it. */
	if (!front_is_built() && exec.config->grpc && strcmp(exec.config->grpc, EXEC_GRPC) == 0)
		free(TAKE(exec.config->grpc));
	signals_block(&exec);
	if (state_dir_name(&exec, &err) || daemon_start(&exec, &err)) {
		main_failure(&err);
		return EXIT_NOT_STARTED;
	}
	command_run(&exec);
	daemon_stop(&exec);
	rest_clean(&exec);
	free(exec.url);
	return exec.exit_code;
}
