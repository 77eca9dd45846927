// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

// Batches: small puts and atomics for one PE, which go out as one message when somebody
// waits, when it is full, or when the flusher comes by. That PE carries them out.

#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "shim.h"

static bool try_lock(struct shim_box *b)
{
	return __atomic_exchange_n(&b->lock, 1, __ATOMIC_ACQUIRE) == 0;
}

static void unlock(struct shim_box *b)
{
	__atomic_store_n(&b->lock, 0, __ATOMIC_RELEASE);
}

// shim_box_new returns a new box of the stream; NULL: no memory.
struct shim_box *shim_box_new(struct shim_stream *s, fi_addr_t addr, uint64_t token, struct shim_target control)
{
	struct shim_box *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->stream = s;
	b->addr = addr;
	b->token = token;
	b->control = control;
	pthread_mutex_lock(&s->mutex);
	b->next = s->boxes;
	s->boxes = b;
	pthread_mutex_unlock(&s->mutex);
	return b;
}

// shim_box_open gives a box that has none a buffer. The caller has its lock. SHIM_AGAIN:
// as many batches as may be are under way; -FI_ENOSPC: no buffer is left.
int64_t shim_box_open(struct shim_box *b)
{
	uint8_t *buffer;

	if (__atomic_load_n(&b->flying, __ATOMIC_ACQUIRE) >= SHIM_FLYING)
		return SHIM_AGAIN;
	buffer = shim_bounce(b->stream);
	if (!buffer)
		return -FI_ENOSPC;
	b->buffer = buffer + b->stream->domain->mail.lead;
	return SHIM_DONE;
}

// shim_box_wait polls until another batch may be begun (SHIM_DONE) or the time is up
// (SHIM_PENDING). The caller does not have the lock.
int64_t shim_box_wait(struct shim_box *b)
{
	struct shim_spin spin = shim_spin_begin(b->stream, 0);
	bool full;

	while ((full = __atomic_load_n(&b->flying, __ATOMIC_ACQUIRE) >= SHIM_FLYING) && shim_spin_pass(&spin))
		;
	shim_spin_end(&spin);
	return full ? SHIM_PENDING : SHIM_DONE;
}

// post sends a batch. Afterwards, unless it returns an error, the operation may be gone.
static int64_t post(struct shim_op *op)
{
	struct iovec iov = {.iov_base = op->bounce, .iov_len = op->length};
	void *none = NULL;
	struct fi_msg msg = {
		.msg_iov = &iov,
		.desc = &none,
		.iov_count = 1,
		.addr = op->box->addr,
		.context = op,
	};

	op->posted = true;
	return fi_sendmsg(op->stream->ep, &msg, FI_COMPLETION);
}

// give_up ends a batch that was not sent, or whose acknowledgement will not come.
static void give_up(struct shim_op *op, const struct shim_error *error)
{
	if (shim_batch_ends(op, SHIM_SENT, error))
		shim_completed(op, error);
}

static void wait_for_room(struct shim_domain *d, struct shim_op *op)
{
	struct shim_mail *m = &d->mail;

	pthread_mutex_lock(&m->mutex);
	op->posted = false;
	op->next = NULL;
	*m->last_unsent = op;
	m->last_unsent = &op->next;
	__atomic_store_n(&m->waiting, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&m->mutex);
}

// shim_box_close counts what the box holds as one operation and sends it, at once or as
// soon as there is room. The caller has its lock.
int64_t shim_box_close(struct shim_box *b)
{
	struct shim_stream *s = b->stream;
	struct shim_domain *d = s->domain;
	struct shim_mail *m = &d->mail;
	struct shim_head *head;
	struct shim_op *op;
	struct shim_slot *slot;
	int64_t ret;

	if (b->used == 0)
		return 0;
	op = shim_take(s, NULL, SHIM_BATCH, b->control.pe);
	if (!op)
		return -FI_ENOMEM;
	op->bounce = b->buffer - m->lead;
	op->box = b;
	op->length = m->lead + b->used;
	op->born = shim_now();
	op->posted = op->abandoned = false;
	pthread_mutex_lock(&m->mutex);
	op->slot = m->free[--m->nfree];
	slot = &m->slots[op->slot];
	slot->op = op;
	head = op->bounce;
	*head = (struct shim_head){
		.token = b->token,
		.reply = m->token,
		.id = (uint64_t)slot->serial << 32 | op->slot,
		.kind = SHIM_BATCH,
		.from = d->config.pe,
		.name = m->name_size,
		.size = b->used,
	};
	pthread_mutex_unlock(&m->mutex);
	memcpy(head + 1, m->name, m->lead - sizeof *head);
	__atomic_fetch_add(&d->counters.batches, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&d->counters.records, b->records, __ATOMIC_RELAXED);
	b->buffer = NULL;
	b->used = b->records = 0;
	__atomic_fetch_add(&b->flying, 1, __ATOMIC_RELAXED);
	ret = post(op);
	if (ret == -FI_EAGAIN) {
		wait_for_room(d, op);
		shim_flusher_wake(d);
	} else if (ret) {
		struct shim_error e = shim_error_of(ret);
		give_up(op, &e);
	}
	return 0;
}

// shim_batch_ends notes that one end of a batch has come, and reports whether it is done:
// that was the last one, or there is an error.
bool shim_batch_ends(struct shim_op *op, int end, const struct shim_error *error)
{
	struct shim_mail *m = &op->stream->domain->mail;
	struct shim_slot *slot = &m->slots[op->slot];
	bool done;

	pthread_mutex_lock(&m->mutex);
	op->ends |= end;
	done = error || op->ends == (SHIM_SENT | SHIM_ACKED);
	if (done) {
		slot->op = NULL;
		slot->serial++;
		m->free[m->nfree++] = op->slot;
	}
	pthread_mutex_unlock(&m->mutex);
	return done;
}

// shim_batch_acked returns the batch that a PE has acknowledged if it is done now. One
// that is not known may have been given up.
struct shim_op *shim_batch_acked(struct shim_domain *d, uint64_t id, uint32_t from)
{
	struct shim_mail *m = &d->mail;
	uint32_t at = (uint32_t)id;
	struct shim_op *op = NULL;

	if (at >= SHIM_BOUNCES)
		return NULL;
	pthread_mutex_lock(&m->mutex);
	if (m->slots[at].serial == id >> 32 && m->slots[at].op && m->slots[at].op->pe == (int32_t)from)
		op = m->slots[at].op;
	pthread_mutex_unlock(&m->mutex);
	// Nobody else ends it in between: who calls this reads the completion queue.
	return op && shim_batch_ends(op, SHIM_ACKED, NULL) ? op : NULL;
}

// gone reports whether a PE is taken for dead to which there is no room for so long, though the
// stream has too few operations in flight to fill the queue.
static bool gone(struct shim_domain *d, struct shim_stream *s, uint64_t ns)
{
	return ns > d->config.connect_ns && __atomic_load_n(&s->inflight, __ATOMIC_RELAXED) < s->limit;
}

// resend sends what waits for room, some of it, and gives up what has waited for too long. The caller reads the completion queue.
static void resend(struct shim_domain *d)
{
	enum { MOST = 16 }; // of a pass: who cannot be reached must not take all of its time
	struct shim_mail *m = &d->mail;
	struct shim_op *op, *end = NULL;

	for (int i = 0; i < MOST; i++) {
		int64_t ret;

		pthread_mutex_lock(&m->mutex);
		op = m->unsent;
		if (op == end)
			op = NULL; // all had their turn
		if (op && !(m->unsent = op->next))
			m->last_unsent = &m->unsent;
		pthread_mutex_unlock(&m->mutex);
		if (!op)
			return;
		ret = post(op);
		if (ret == -FI_EAGAIN && gone(d, op->stream, shim_now() - op->born))
			ret = d->heard[op->pe] ? -FI_ENOTCONN : -FI_ETIMEDOUT;
		if (ret == -FI_EAGAIN) {
			if (!end)
				end = op;
			wait_for_room(d, op);
		} else if (ret) {
			struct shim_error e = shim_error_of(ret);
			give_up(op, &e);
		}
	}
}

// shim_resend gives what waits for room another try. The caller reads the completion queue.
void shim_resend(struct shim_domain *d)
{
	struct shim_mail *m = &d->mail;

	__atomic_store_n(&m->waiting, 0, __ATOMIC_SEQ_CST);
	resend(d);
	shim_repost(d);
	pthread_mutex_lock(&m->mutex);
	if (m->unsent)
		__atomic_store_n(&m->waiting, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&m->mutex);
}

// Boxes that have records are in a list, which is taken as a whole.
static void push(struct shim_mail *m, struct shim_box *b)
{
	b->dirty = __atomic_load_n(&m->dirty, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&m->dirty, &b->dirty, b, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

// shim_flush sends what was collected, but for boxes that somebody has under lock now,
// unless somebody else is at it.
void shim_flush(struct shim_domain *d)
{
	struct shim_mail *m = &d->mail;
	struct shim_box *b, *next;

	if (pthread_mutex_trylock(&m->flush_mutex))
		return;
	for (b = __atomic_exchange_n(&m->dirty, NULL, __ATOMIC_SEQ_CST); b; b = next) {
		next = b->dirty;
		if (!try_lock(b)) {
			push(m, b);
			continue;
		}
		if (shim_box_close(b))
			push(m, b);
		else
			__atomic_store_n(&b->linked, 0, __ATOMIC_RELEASE);
		unlock(b);
	}
	pthread_mutex_unlock(&m->flush_mutex);
}

// shim_boxes_end takes the boxes of a stream, which are empty, out of the list.
void shim_boxes_end(struct shim_stream *s)
{
	struct shim_mail *m = &s->domain->mail;
	struct shim_box *b, *next;

	pthread_mutex_lock(&m->flush_mutex);
	for (b = __atomic_exchange_n(&m->dirty, NULL, __ATOMIC_SEQ_CST); b; b = next) {
		next = b->dirty;
		if (b->stream != s)
			push(m, b);
	}
	pthread_mutex_unlock(&m->flush_mutex);
}

// A PE that has died acknowledges nothing, and what was sent to it before may have ended without
// an error. So it is read from by the same connection where an acknowledgement is late: this
// ends with an error if it dies. If it is dead already there is no room for a message, ever.
static struct shim_op *take_probe(struct shim_domain *d, bool *more)
{
	const uint64_t second = 1000000000;
	struct shim_mail *m = &d->mail;
	uint64_t now = shim_now();
	struct shim_op *probe = NULL;

	pthread_mutex_lock(&m->mutex);
	for (int i = 0; i < SHIM_BOUNCES && m->nfree < SHIM_BOUNCES && !probe; i++) {
		struct shim_op *op = m->slots[i].op;
		if (!op || (op->ends & SHIM_ACKED))
			continue;
		*more = true;
		if (!op->posted || now - op->born < SHIM_LATE_NS || now < op->box->again)
			continue;
		probe = shim_take(op->stream, &op->box->probes, SHIM_PROBE, op->pe);
		if (!probe)
			break;
		probe->box = op->box;
		// One that nothing comes back from may be lost, or its PE may stand.
		op->box->patience = op->box->patience ? 2 * op->box->patience : second;
		op->box->again = now + op->box->patience;
	}
	pthread_mutex_unlock(&m->mutex);
	return probe;
}

// probe posts the probes that are due, and reports whether there may be more soon.
static bool probe(struct shim_domain *d)
{
	struct shim_op *op;
	bool more = false;

	while ((op = take_probe(d, &more))) {
		struct shim_box *b = op->box;
		struct iovec iov = {.iov_base = &op->result, .iov_len = 8};
		struct fi_rma_iov remote = {.addr = b->control.at, .len = 8, .key = b->control.key};
		void *none = NULL;
		struct fi_msg_rma msg = {
			.msg_iov = &iov,
			.desc = &none,
			.iov_count = 1,
			.addr = b->control.addr,
			.rma_iov = &remote,
			.rma_iov_count = 1,
			.context = op,
		};
		int64_t ret = fi_readmsg(op->stream->ep, &msg, FI_COMPLETION);

		if (ret == 0) {
			__atomic_fetch_add(&d->counters.reads, 1, __ATOMIC_RELAXED);
			continue;
		}
		while (!shim_lock(d))
			sched_yield();
		if (ret == -FI_EAGAIN) {
			uint64_t now = shim_now();
			pthread_mutex_lock(&d->mail.mutex);
			if (b->refused == 0)
				b->refused = now;
			b->again = now + 20 * SHIM_LATE_NS;
			pthread_mutex_unlock(&d->mail.mutex);
			if (gone(d, op->stream, now - b->refused))
				ret = -FI_ENOTCONN;
		}
		if (ret == -FI_EAGAIN) {
			shim_untake(op);
		} else {
			struct shim_error e = shim_error_of(ret);
			shim_completed(op, &e);
		}
		shim_unlock(d);
	}
	return more;
}

// shim_probed is what became of a probe: with an error, the batches that were sent to that
// PE end with it, too. The caller reads the completion queue.
void shim_probed(struct shim_op *probe, const struct shim_error *error)
{
	struct shim_mail *m = &probe->stream->domain->mail;

	for (int i = 0; i < SHIM_BOUNCES && error; i++) {
		struct shim_op *op;

		pthread_mutex_lock(&m->mutex);
		op = m->slots[i].op;
		if (op && (op->pe != probe->pe || !op->posted || !(op->ends & SHIM_SENT || error->code == FI_ENOTCONN)))
			op = NULL;
		else if (op && !(op->ends & SHIM_SENT))
			// At the moment of a connection's end tcp;ofi_rxm of 1.17 may lose a completion. It may
			// also come yet: nobody else gets this memory.
			op->abandoned = op->stream->leaks = true;
		pthread_mutex_unlock(&m->mutex);
		if (op)
			give_up(op, error);
	}
	pthread_mutex_lock(&m->mutex);
	probe->box->refused = 0;
	if (!error)
		probe->box->patience = 0;
	pthread_mutex_unlock(&m->mutex);
}

void shim_flusher_wake(struct shim_domain *d)
{
	struct shim_mail *m = &d->mail;

	__atomic_thread_fence(__ATOMIC_SEQ_CST); // pairs with that of the flusher
	if (__atomic_load_n(&m->asleep, __ATOMIC_RELAXED)) {
		__atomic_fetch_add(&m->bell, 1, __ATOMIC_SEQ_CST);
		shim_futex(&m->bell, FUTEX_WAKE_PRIVATE, 1, NULL);
	}
}

static struct timespec span(uint64_t ns)
{
	return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

// shim_flusher sends what was collected, at short intervals while there is something. What there is no
// room for, or what is late, may wait for a PE that stands: it looks at that less and less often.
void *shim_flusher(void *domain)
{
	enum { LINGER = 8, GROWTH = 64 }; // intervals without anything before it sleeps; of SHIM_LATE_NS
	struct shim_domain *d = domain;
	struct shim_mail *m = &d->mail;
	uint64_t looked = 0, rest = SHIM_FLUSH_NS;
	bool late = false;
	int idle = 0;

	prctl(PR_SET_NAME, "goshmem-batch");
	prctl(PR_SET_TIMERSLACK, 1000);
	while (!__atomic_load_n(&d->stopping, __ATOMIC_ACQUIRE)) {
		bool dirty = __atomic_load_n(&m->dirty, __ATOMIC_ACQUIRE), waiting = __atomic_load_n(&m->waiting, __ATOMIC_ACQUIRE);
		struct timespec t;
		uint32_t bell;

		if (dirty)
			shim_flush(d);
		if (waiting) {
			shim_poll(d);
			shim_ring(d);
		}
		late |= dirty;
		if (late && shim_now() - looked >= SHIM_LATE_NS) {
			late = probe(d);
			looked = shim_now();
		}
		idle = dirty ? 0 : idle + 1;
		if (idle < LINGER)
			rest = SHIM_FLUSH_NS;
		else if (rest < GROWTH * SHIM_LATE_NS)
			rest *= 2;
		t = span(idle < LINGER || waiting ? (rest < SHIM_LATE_NS ? rest : SHIM_LATE_NS) : late ? rest : 1000000000);
		if (idle < LINGER) {
			nanosleep(&t, NULL);
			continue;
		}
		bell = __atomic_load_n(&m->bell, __ATOMIC_SEQ_CST);
		__atomic_store_n(&m->asleep, 1, __ATOMIC_SEQ_CST);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (!__atomic_load_n(&m->dirty, __ATOMIC_SEQ_CST) && !__atomic_load_n(&d->stopping, __ATOMIC_SEQ_CST) &&
		    (waiting || !__atomic_load_n(&m->waiting, __ATOMIC_SEQ_CST)))
			shim_futex(&m->bell, FUTEX_WAIT_PRIVATE, bell, &t);
		__atomic_store_n(&m->asleep, 0, __ATOMIC_SEQ_CST);
	}
	return NULL;
}
