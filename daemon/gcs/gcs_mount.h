/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_mount.h: the process that serves Cloud Storage as a file system: trainyard gcs-mount STATE
 * auto|strict SIGN, which the daemon starts (gcs_host.h).
 *
 * Choice: FUSE by libfuse, in a process of its own. The kernel's other ways to show objects as files are worse here:
 * the hard links below STATE/gs are objects themselves, which a program would change in place; an overlay, or a copy
 * that is kept up to date, neither shows the changes of others nor notices when a file is closed; NFS or 9p need a
 * client in each container. It is a process of its own because containers live longer than the daemon: a file system
 * that ends with the daemon leaves them with "Transport endpoint is not connected" for good.
 *
 *   reading  from the store itself (gcs_index.h), which SQLite lets other processes read: no daemon is needed
 *   writing  by the daemon, over its socket (gcs_client.h): while there is none, writers wait
 *
 * The process lives as long as its file system is mounted anywhere. The file system is mounted at STATE/mount/gcs, from
 * where the engine binds STATE/mount/gcs/gcs into containers. The daemon holds the other end of the process's standard
 * input, which is closed when the daemon ends, even if the daemon is killed. The process then unmounts STATE/mount/gcs,
 * and only the mounts in containers are left. When the last of them is gone, or at once if there are none, the process
 * ends. The next daemon need not find this process: it starts another one, which waits for the lock STATE/gcs.lock
 * until the previous process has unmounted. STATE/mount/gcs/gcs exists only while it is mounted, so that the engine
 * never gives a container an empty directory instead.
 *
 * Its standard output has one line: "ready", or why it cannot be mounted; its log is on standard error. */

/* The last line that the process writes to standard output if containers still have the mount. */
#define GCS_KEPT "kept\n"

/* Runs the process that serves the file system. @arguments are the words after "gcs-mount", ending with NULL. Returns
 * the exit code. */
int gcs_mount_main(const char *const *arguments);
