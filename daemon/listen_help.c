/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/listen_help.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/socket_owner.h"
#include "daemon/base/text.h"
#include "daemon/config.h"
#include "daemon/config_listen.h"
#include "daemon/token.h"

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un path;
};

static socklen_t address_make(const char *listen, union address *ret_address)
{
	const char *path = config_listen_path(listen);
	char text[LISTEN_ADDRESS_SIZE];
	uint16_t port = 0;

	*ret_address = (union address){ .path = { .sun_family = AF_UNIX } };
	if (path) {
		strncpy(ret_address->path.sun_path, path, sizeof(ret_address->path.sun_path) - 1);
		return sizeof(ret_address->path);
	}
	config_listen_split(listen, text, &port); /* checked when it was read */
	if (strchr(text, ':')) {
		ret_address->v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(port) };
		inet_pton(AF_INET6, text, &ret_address->v6.sin6_addr);
		return sizeof(ret_address->v6);
	}
	ret_address->v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
	inet_pton(AF_INET, text, &ret_address->v4.sin_addr);
	return sizeof(ret_address->v4);
}

/* Tries to listen on a TCP address. Returns the kernel's errno; 0: it is possible now. Not for a unix socket, because
 * bind() would leave the file behind. */
static int problem_find(const union address *address, socklen_t size)
{
	const int on = 1;
	int problem = 0, fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return errno;
	if (address->any.sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, &address->any, size) != 0 || listen(fd, 1) != 0)
		problem = errno;
	close(fd);
	return problem;
}

static void taken_write(struct text *text, const char *option, const union address *address)
{
	struct socket_owner owner;

	if (!socket_owner_find_listener(&address->any, &owner)) {
		text_puts(text, "another process has it");
	} else if (owner.pid == getpid()) {
		text_puts(text, "--listen and --grpc want a port each");
		return;
	} else {
		socket_owner_write(text, &owner);
		text_puts(text, " has it");
	}
	text_printf(text, "; --%s 127.0.0.1:0 takes any free port", option);
}

static void problem_write(struct text *text, const char *option, const union address *address, int problem)
{
	switch (problem) {
	case EADDRINUSE:
		taken_write(text, option, address);
		break;
	case EACCES:
		text_puts(
			text,
			"ports below 1024 are root's here: choose a higher one, or run it with the capability "
			"CAP_NET_BIND_SERVICE (AmbientCapabilities= in systemd's unit)");
		break;
	case EADDRNOTAVAIL:
		text_puts(
			text,
			"this machine has no such address: choose one that `ip address` lists, 127.0.0.1 for this "
			"machine alone, or 0.0.0.0 for all");
		break;
	default:
		break;
	}
}

/* ---- paths ---- */

static bool path_listener_find(const union address *address, struct socket_owner *ret_owner)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool found = fd >= 0 && connect(fd, &address->any, sizeof(address->path)) == 0 &&
		     getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;

	if (fd >= 0)
		close(fd);
	if (found) {
		*ret_owner = (struct socket_owner){ .uid = peer.uid, .pid = peer.pid };
		socket_owner_name_program(ret_owner);
	}
	return found;
}

/* Appends the problem with the directory in which the socket would be made. */
static void above_write(struct text *text, const char *path)
{
	const size_t length = (size_t)(strrchr(path, '/') - path);
	char above[sizeof(((struct sockaddr_un *)NULL)->sun_path)] = "/";

	if (length)
		snprintf(above, sizeof(above), "%.*s", (int)length, path);
	if (access(above, F_OK) != 0)
		text_printf(text, "%s: %s: make that directory first, or choose another path", above,
			    strerror(errno));
	else if (access(above, W_OK | X_OK) != 0)
		text_printf(
			text,
			"%s: %s: this user may make no file there; choose another path, such as one below "
			"$XDG_RUNTIME_DIR",
			above, strerror(errno));
}

static void path_problem_write(struct text *text, const union address *address)
{
	const char *path = address->path.sun_path;
	struct socket_owner owner;
	struct stat about;

	if (path_listener_find(address, &owner)) {
		socket_owner_write(text, &owner);
		text_puts(text, " listens there; stop it, or choose another path");
	} else if (lstat(path, &about) == 0 && !S_ISSOCK(about.st_mode)) {
		text_puts(text, "there is a file that is no socket, and is left alone; choose another path");
	} else {
		above_write(text, path);
	}
}

enum status listen_explain(const char *option, const char *listen, struct error *err)
{
	union address address;
	const socklen_t size = address_make(listen, &address);
	const bool is_path = address.any.sa_family == AF_UNIX;
	const int problem = is_path ? 0 : problem_find(&address, size);
	struct text text AUTO_TEXT = { 0 };

	if (err->status != STATUS_UNAVAILABLE)
		return err->status;
	if (is_path)
		path_problem_write(&text, &address);
	else
		problem_write(&text, option, &address, problem);
	if (!text.length)
		return err->status;
	return error_set(err, STATUS_UNAVAILABLE, NULL, "--%s: cannot listen on %s%s%s: %s", option,
			 is_path ? address.path.sun_path : listen, is_path ? "" : ": ",
			 is_path ? "" : strerror(problem), text.data);
}

enum status listen_check(const struct config *config, struct error *err)
{
	const struct {
		const char *option, *listen, *hint;
	} addresses[] = {
		{ "listen", config->listen, "tokens and data travel without encryption" },
		{ "grpc", config->grpc,
		  "tokens and data of clients that use no TLS travel without encryption" },
	};

	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		if (!addresses[i].listen || config_listen_is_local(addresses[i].listen))
			continue;
		if (!config->token_file && !token_given())
			return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
					 "--%s: %s can be reached from other machines: give --token-file, or "
					 "TRAINYARD_TOKEN, too",
					 addresses[i].option, addresses[i].listen);
		log_event(LOG_WARNING, "reachable", "option=%s address=%s hint=\"%s\"", addresses[i].option,
			  addresses[i].listen, addresses[i].hint);
	}
	return STATUS_OK;
}
