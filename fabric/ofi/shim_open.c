// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

// Opening and closing: the domain, its endpoints, memory, thread and streams.

#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "shim.h"

// Threads that a provider starts inherit the signal mask: they get none of the
// signals that are sent to the process, for those are Go's.
static void mask_signals(sigset_t *old)
{
	sigset_t all;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGABRT);
	pthread_sigmask(SIG_SETMASK, &all, old);
}

static void unmask_signals(const sigset_t *old)
{
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

// open_cq opens the completion queue, with a file descriptor to sleep on if the
// provider has that.
static int64_t open_cq(struct shim_domain *d)
{
	struct fi_cq_attr attr = {
		.size = d->info->tx_attr->size * SHIM_ENDPOINTS,
		.format = FI_CQ_FORMAT_MSG,
		.wait_obj = FI_WAIT_FD,
	};
	int64_t ret;

	d->wait_fd = -1;
	if (d->config.sockets) {
		attr.wait_obj = FI_WAIT_NONE;
		ret = shim_sockets_open(d);
		return ret ? ret : fi_cq_open(d->domain, &attr, &d->cq, NULL);
	}
	ret = fi_cq_open(d->domain, &attr, &d->cq, NULL);
	if (ret == 0) {
		if (fi_control(&d->cq->fid, FI_GETWAIT, &d->wait_fd) == 0)
			return 0;
		d->wait_fd = -1;
		fi_close(&d->cq->fid);
	}
	d->cq = NULL;
	attr.wait_obj = FI_WAIT_NONE;
	return fi_cq_open(d->domain, &attr, &d->cq, NULL);
}

static int64_t add_endpoint(struct shim_domain *d)
{
	struct fid_ep *ep;
	int64_t ret = fi_endpoint(d->domain, d->info, &ep, NULL);

	if (ret)
		return ret;
	if ((ret = fi_ep_bind(ep, &d->av->fid, 0)) ||
	    (ret = fi_ep_bind(ep, &d->cq->fid, FI_TRANSMIT | FI_RECV)) ||
	    (ret = fi_enable(ep))) {
		fi_close(&ep->fid);
		return ret;
	}
	d->eps[d->neps++] = ep;
	return 0;
}

// shim_endpoint opens another endpoint and returns its index, or -errno.
int64_t shim_endpoint(struct shim_domain *d)
{
	sigset_t mask;
	int64_t ret;

	if (d->neps == SHIM_ENDPOINTS)
		return -FI_ENOSPC;
	mask_signals(&mask);
	// The queue is not read meanwhile: it would look at an endpoint that is half made.
	while (!shim_lock(d))
		sched_yield();
	ret = add_endpoint(d);
	shim_unlock(d);
	__atomic_store_n(&d->sockets.stale, true, __ATOMIC_RELEASE);
	unmask_signals(&mask);
	return ret ? ret : d->neps - 1;
}

static int64_t open_all(struct shim_domain *d, const char **step)
{
	struct fi_av_attr av = {.type = FI_AV_TABLE};
	int64_t ret;

	*step = "allocate memory";
	d->heard = calloc(d->config.npes, 1);
	if (!d->heard || posix_memalign((void **)&d->control, 4096, 4096))
		return -FI_ENOMEM;
	memset(d->control, 0, 4096);
	*step = "open the fabric";
	if ((ret = fi_fabric(d->info->fabric_attr, &d->fabric, NULL)))
		return ret;
	*step = "open the domain";
	if ((ret = fi_domain(d->fabric, d->info, &d->domain, NULL)))
		return ret;
	*step = "open the address vector";
	if ((ret = fi_av_open(d->domain, &av, &d->av, NULL)))
		return ret;
	*step = "open the completion queue";
	if ((ret = open_cq(d)))
		return ret;
	*step = "open the endpoint";
	if ((ret = add_endpoint(d)))
		return ret;
	d->words = 1;
	struct fi_atomic_attr attr = {0};
	if (fi_query_atomic(d->domain, FI_UINT64, FI_ATOMIC_WRITE, &attr, 0) == 0 && attr.count > 1)
		d->words = attr.count < SHIM_WORDS ? attr.count : SHIM_WORDS;
	if (d->config.in_order && d->iovs > 1)
		d->fused = 8 * (d->words - 1);
	*step = "create an event descriptor";
	d->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return d->stop_fd < 0 ? -FI_EMFILE : 0;
}

// shim_open opens a domain with one endpoint. It takes info over.
struct shim_opened shim_open(struct fi_info *info, struct shim_config config)
{
	struct shim_opened o = {.step = "allocate memory", .status = -FI_ENOMEM};
	struct shim_domain *d = calloc(1, sizeof(*d));
	sigset_t mask;

	if (!d) {
		fi_freeinfo(info);
		return o;
	}
	d->info = info;
	d->config = config;
	d->wait_fd = d->stop_fd = -1;
	if (d->config.max_message == 0 || d->config.max_message > SHIM_PIECE)
		d->config.max_message = SHIM_PIECE;
	if (d->config.max_message > info->ep_attr->max_msg_size)
		d->config.max_message = info->ep_attr->max_msg_size;
	d->iovs = info->tx_attr->iov_limit < info->tx_attr->rma_iov_limit ?
		info->tx_attr->iov_limit : info->tx_attr->rma_iov_limit;
	if (d->iovs > SHIM_IOVS)
		d->iovs = SHIM_IOVS;
	if (d->iovs < 1)
		d->iovs = 1;
	pthread_mutex_init(&d->bounce_mutex, NULL);
	pthread_mutex_init(&d->mail.mutex, NULL);
	pthread_mutex_init(&d->mail.flush_mutex, NULL);
	d->mail.last_ack = &d->mail.acks;
	d->mail.last_unsent = &d->mail.unsent;
	mask_signals(&mask);
	o.status = open_all(d, &o.step);
	unmask_signals(&mask);
	if (o.status == 0) {
		o.domain = d;
		return o;
	}
	shim_close(d);
	shim_free(d);
	return o;
}

// shim_register registers memory for peers to read and write.
int64_t shim_register(struct shim_domain *d, void *mem, size_t size, uint64_t key, struct fid_mr **mr)
{
	int64_t ret = fi_mr_reg(d->domain, mem, size, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, key, 0, mr, NULL);

	if (ret == 0 && d->info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
		if ((ret = fi_mr_bind(*mr, &d->eps[0]->fid, 0)) || (ret = fi_mr_enable(*mr))) {
			fi_close(&(*mr)->fid);
			*mr = NULL;
		}
	}
	return ret;
}

void *shim_thread(void *domain);  // shim_progress.c
void *shim_flusher(void *domain); // shim_batch.c

// shim_start starts the thread that drives progress while nobody else does.
int64_t shim_start(struct shim_domain *d)
{
	sigset_t mask;
	int64_t ret;

	mask_signals(&mask);
	ret = -pthread_create(&d->thread, NULL, shim_thread, d);
	unmask_signals(&mask);
	d->threaded = ret == 0;
	return ret;
}

// shim_flusher_start starts the thread that sends batches in time, once.
int64_t shim_flusher_start(struct shim_domain *d)
{
	sigset_t mask;
	int64_t ret;

	if (d->mail.flushing)
		return 0;
	mask_signals(&mask);
	ret = -pthread_create(&d->mail.flusher, NULL, shim_flusher, d);
	unmask_signals(&mask);
	d->mail.flushing = ret == 0;
	return ret;
}

static void close_fid(struct fid *fid)
{
	if (fid)
		fi_close(fid);
}

// shim_close ends the thread and closes everything. No call may be under way.
void shim_close(struct shim_domain *d)
{
	shim_mail_close(d);
	if (d->threaded) {
		uint64_t one = 1;
		ssize_t n;

		__atomic_store_n(&d->stopping, 1, __ATOMIC_RELEASE);
		n = write(d->stop_fd, &one, sizeof one); // an eventfd takes it
		(void)n;
		shim_handback(d);
		pthread_join(d->thread, NULL);
	}
	for (uint32_t i = 0; i < d->neps; i++)
		close_fid(&d->eps[i]->fid);
	close_fid(d->segment_mr ? &d->segment_mr->fid : NULL);
	close_fid(d->control_mr ? &d->control_mr->fid : NULL);
	close_fid(d->cq ? &d->cq->fid : NULL);
	close_fid(d->av ? &d->av->fid : NULL);
	close_fid(d->domain ? &d->domain->fid : NULL);
	close_fid(d->fabric ? &d->fabric->fid : NULL);
	if (d->stop_fd >= 0)
		close(d->stop_fd);
	shim_sockets_close(d);
	while (d->bounces) {
		void *next = *(void **)d->bounces;
		free(d->bounces);
		d->bounces = next;
	}
	shim_mail_free(d);
	pthread_mutex_destroy(&d->bounce_mutex);
	fi_freeinfo(d->info);
	d->info = NULL;
}

// shim_free gives a closed domain's memory back.
void shim_free(struct shim_domain *d)
{
	free(d->control);
	free(d->heard);
	free(d);
}

// shim_atomic_valid reports whether the provider runs an operation by itself.
// flags is 0, FI_FETCH_ATOMIC or FI_COMPARE_ATOMIC.
int shim_atomic_valid(struct shim_domain *d, int op, int datatype, uint64_t flags)
{
	struct fi_atomic_attr attr = {0};
	size_t count = 0;
	int ret = fi_query_atomic(d->domain, datatype, op, &attr, flags);

	if (ret == 0)
		return attr.count > 0;
	if (ret != -FI_ENOSYS)
		return 0;
	if (flags == FI_FETCH_ATOMIC)
		ret = fi_fetch_atomicvalid(d->eps[0], datatype, op, &count);
	else if (flags == FI_COMPARE_ATOMIC)
		ret = fi_compare_atomicvalid(d->eps[0], datatype, op, &count);
	else
		ret = fi_atomicvalid(d->eps[0], datatype, op, &count);
	return ret == 0 && count > 0;
}
