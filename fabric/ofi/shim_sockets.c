// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

// Sleeping on the provider's sockets themselves. A completion queue with a descriptor makes
// libfabric 1.17's tcp poll by epoll, in place of poll, and whatever comes in pays for the
// wake-up of its sets: a tenth of a small operation's time (docs/fabric.md). So where PEs are
// few the queue has none, and the thread looks for the sockets among the process's own, by what
// they are bound or connected to: an address of this domain, or of a peer.
//
// Nothing depends on finding them all at once: a new connection's socket is looked for
// after a millisecond, then after two, and so on.

#define _GNU_SOURCE
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shim.h"

enum {
	FIRST_MS = 1,        // the nap after which to look for a new connection's socket
	LONGEST_MS = 100,    // the longest nap
	AT_ONCE_NS = 20000,  // a poll that took no longer did not sleep
	MOST_AT_ONCE = 1000, // such polls in a row, after which something is readable that nobody reads
	REST_NS = 200000,    // which then costs so long a rest a poll
};

typedef union {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
} address;

// port returns the port of an address in network order, 0 if it has none.
static in_port_t port(const address *a)
{
	return a->any.sa_family == AF_INET ? a->in.sin_port : a->any.sa_family == AF_INET6 ? a->in6.sin6_port : 0;
}

static bool equal(const address *a, const address *b)
{
	if (a->any.sa_family != b->any.sa_family || port(a) != port(b))
		return false;
	if (a->any.sa_family == AF_INET)
		return a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
	return a->any.sa_family == AF_INET6 && memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr, sizeof a->in6.sin6_addr) == 0;
}

// shim_sockets_open prepares for sleeping on sockets, without any as yet.
int64_t shim_sockets_open(struct shim_domain *d)
{
	struct shim_sockets *s = &d->sockets;

	pthread_mutex_init(&s->mutex, NULL);
	s->room_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->room_fd < 0)
		return -FI_EMFILE;
	s->used = s->stale = true;
	return 0;
}

void shim_sockets_close(struct shim_domain *d)
{
	if (!d->sockets.used)
		return;
	close(d->sockets.room_fd);
	pthread_mutex_destroy(&d->sockets.mutex);
}

// shim_insert puts a peer's address into the address vector, and returns how many, 1, or -errno.
int64_t shim_insert(struct shim_domain *d, const void *name, size_t size, fi_addr_t *addr)
{
	struct shim_sockets *s = &d->sockets;
	int64_t ret = fi_av_insert(d->av, name, 1, addr, 0, NULL);
	address a = {0};
	uint32_t i;

	if (ret != 1 || !s->used)
		return ret;
	memcpy(&a, name, size < sizeof a ? size : sizeof a);
	pthread_mutex_lock(&s->mutex);
	for (i = 0; i < s->npeers && !equal((address *)&s->peers[i], &a); i++)
		;
	if (i == s->npeers && i < SHIM_FEW) {
		memcpy(&s->peers[i], &a, sizeof a);
		s->npeers++;
	}
	pthread_mutex_unlock(&s->mutex);
	__atomic_store_n(&s->stale, true, __ATOMIC_RELEASE);
	return ret;
}

// ours reports whether fd is a socket of the provider's for this domain, whose endpoints
// have the given ports.
static bool ours(struct shim_domain *d, int fd, const in_port_t *ports)
{
	struct shim_sockets *s = &d->sockets;
	address a = {0};
	socklen_t size = sizeof(int);
	int protocol;
	bool found = false;

	if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) || protocol != IPPROTO_TCP)
		return false;
	size = sizeof a;
	if (getsockname(fd, &a.any, &size))
		return false;
	for (uint32_t i = 0; i < d->neps; i++)
		if (ports[i] == port(&a))
			return true;
	size = sizeof a;
	if (getpeername(fd, &a.any, &size))
		return false;
	pthread_mutex_lock(&s->mutex);
	for (uint32_t i = 0; i < s->npeers && !found; i++)
		found = equal((address *)&s->peers[i], &a);
	pthread_mutex_unlock(&s->mutex);
	return found;
}

// find looks for the provider's sockets. If there are more than there is room for, or no
// /proc, naps stay short.
static void find(struct shim_domain *d)
{
	struct shim_sockets *s = &d->sockets;
	in_port_t ports[SHIM_ENDPOINTS] = {0};
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *e;

	s->fds[0] = (struct pollfd){.fd = d->stop_fd, .events = POLLIN};
	s->fds[1] = (struct pollfd){.fd = s->room_fd, .events = POLLIN};
	s->n = 2;
	s->partial = !dir;
	if (!dir)
		return;
	for (uint32_t i = 0; i < d->neps; i++) {
		address a = {0};
		size_t size = sizeof a;

		if (fi_getname(&d->eps[i]->fid, &a, &size) == 0)
			ports[i] = port(&a);
	}
	while ((e = readdir(dir))) {
		// A socket that was full is readable in the set once it has room, whoever
		// found it full: what the provider still has to send waits for that.
		struct epoll_event room = {.events = EPOLLOUT | EPOLLET};
		int fd = atoi(e->d_name), listens = 0;
		socklen_t size = sizeof listens;

		if (e->d_name[0] == '.' || !ours(d, fd, ports))
			continue;
		if (s->n == SHIM_SOCKETS) {
			s->partial = true;
			break;
		}
		getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
		s->listens[s->n] = listens;
		s->fds[s->n++] = (struct pollfd){.fd = fd, .events = POLLIN};
		epoll_ctl(s->room_fd, EPOLL_CTL_ADD, fd, &room); // or it is in there already
	}
	closedir(dir);
}

// shim_sockets_sleep sleeps until the provider has something to do. It returns 1 then, 0
// after a time, and -1 when the thread is to end.
int shim_sockets_sleep(struct shim_domain *d)
{
	struct shim_sockets *s = &d->sockets;
	struct epoll_event rooms[SHIM_SOCKETS];
	uint64_t begin;
	int n;

	if (__atomic_exchange_n(&s->stale, false, __ATOMIC_ACQUIRE)) {
		find(d);
		s->nap = FIRST_MS;
	}
	if (!shim_lock(d))
		return 1;
	n = shim_pass(d);
	shim_unlock(d);
	if (n)
		return 1;
	begin = shim_now();
	n = poll(s->fds, s->n, s->nap);
	if (s->fds[0].revents)
		return -1;
	if (n <= 0) {
		find(d);
		s->nap = s->partial ? FIRST_MS : 2 * s->nap < LONGEST_MS ? 2 * s->nap : LONGEST_MS;
		return 0;
	}
	if (s->fds[1].revents)
		epoll_wait(s->room_fd, rooms, SHIM_SOCKETS, 0); // what had room once is not told of again
	for (nfds_t i = 2; i < s->n; i++)
		if (s->fds[i].revents & (POLLERR | POLLHUP | POLLNVAL) || (s->fds[i].revents && s->listens[i]))
			s->stale = true; // a connection comes or goes
	if (shim_now() - begin > AT_ONCE_NS) {
		s->at_once = 0;
	} else if (++s->at_once > MOST_AT_ONCE) {
		struct timespec t = {.tv_nsec = REST_NS};
		s->stale = true;
		nanosleep(&t, NULL);
	}
	return 1;
}
