// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

// Progress: reading completions, spinning, and the thread that does it while
// nobody spins.

#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim.h"

uint64_t shim_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void pause_core(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

bool shim_aborted(struct shim_domain *d)
{
	return __atomic_load_n(&d->aborted, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&d->control->aborted, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&d->broken, __ATOMIC_RELAXED);
}

static void keep_error(struct shim_error *e, const struct shim_error *from)
{
	if (e->code == 0)
		*e = *from;
}

// shim_error_of returns the error that a refused post stands for.
struct shim_error shim_error_of(int64_t ret)
{
	struct shim_error e = {.code = -ret, .pe = -1};

	snprintf(e.text, sizeof e.text, "%s", fi_strerror(e.code));
	return e;
}

// shim_completed ends an operation, with an error or NULL.
void shim_completed(struct shim_op *op, const struct shim_error *error)
{
	struct shim_stream *s = op->stream;
	struct shim_domain *d = s->domain;

	if (error) {
		struct shim_error e = *error;

		e.pe = op->pe;
		e.kind = op->kind;
		pthread_mutex_lock(&s->mutex);
		if (op->wait) {
			keep_error(&op->wait->error, &e);
		} else {
			keep_error(&s->error, &e);
			__atomic_store_n(&s->failed, 1, __ATOMIC_RELEASE);
		}
		pthread_mutex_unlock(&s->mutex);
	} else {
		if (op->wait)
			op->wait->result = op->result;
		if (op->dest && op->kind == SHIM_GET)
			shim_scatter(op);
		else if (op->dest)
			memcpy(op->dest, &op->result, op->size);
		if (!__atomic_load_n(&d->heard[op->pe], __ATOMIC_RELAXED))
			__atomic_store_n(&d->heard[op->pe], 1, __ATOMIC_RELAXED);
	}
	if (op->kind == SHIM_BATCH)
		__atomic_fetch_sub(&op->box->flying, 1, __ATOMIC_RELEASE);
	if (op->kind == SHIM_PROBE)
		shim_probed(op, error);
	shim_untake(op);
}

// completed is called for what the queue says of an operation.
static void completed(struct shim_op *op, const struct shim_error *error)
{
	if (op->kind == SHIM_BATCH && op->abandoned)
		return;
	if (op->kind != SHIM_BATCH || shim_batch_ends(op, SHIM_SENT, error))
		shim_completed(op, error);
}

// letter returns the letter that a context is, or NULL: an operation's.
static struct shim_letter *letter(struct shim_domain *d, void *context)
{
	uintptr_t first = (uintptr_t)d->mail.letters, c = (uintptr_t)context;

	return c >= first && c < first + sizeof d->mail.letters ? context : NULL;
}

// read_error takes one failed operation off the queue.
static void read_error(struct shim_domain *d)
{
	struct fi_cq_err_entry entry = {0};
	struct shim_error e = {.pe = -1};
	const char *detail;

	if (fi_cq_readerr(d->cq, &entry, 0) != 1)
		return;
	e.code = entry.err > 0 ? entry.err : FI_EOTHER;
	detail = fi_cq_strerror(d->cq, entry.prov_errno, entry.err_data, NULL, 0);
	if (detail && strcmp(detail, fi_strerror(e.code)))
		snprintf(e.text, sizeof e.text, "%s (provider: %s)", fi_strerror(e.code), detail);
	else
		snprintf(e.text, sizeof e.text, "%s", fi_strerror(e.code));
	if (letter(d, entry.op_context))
		shim_received(d, entry.op_context, 0); // too long, or cut off
	else if (entry.op_context)
		completed(entry.op_context, &e);
	else if (e.code != FI_EAGAIN) // no operation of ours: the endpoint itself is in trouble
		__atomic_store_n(&d->broken, (uint32_t)e.code, __ATOMIC_RELEASE);
}

// shim_lock takes the completion queue, unless somebody else has it.
bool shim_lock(struct shim_domain *d)
{
	return __atomic_exchange_n(&d->reading, 1, __ATOMIC_ACQUIRE) == 0;
}

void shim_unlock(struct shim_domain *d)
{
	__atomic_store_n(&d->reading, 0, __ATOMIC_RELEASE);
}

// shim_pass makes one pass of progress and returns how many operations completed. The
// caller has the completion queue.
int shim_pass(struct shim_domain *d)
{
	struct fi_cq_msg_entry entries[16];
	int total = 0;
	ssize_t n;

	do {
		n = fi_cq_read(d->cq, entries, 16);
		for (ssize_t i = 0; i < n; i++) {
			struct shim_letter *l = letter(d, entries[i].op_context);
			if (l)
				shim_received(d, l, entries[i].len);
			else
				completed(entries[i].op_context, NULL);
		}
		if (n > 0) {
			total += n;
		} else if (n == -FI_EAVAIL) {
			read_error(d);
			total++;
		} else if (n != -FI_EAGAIN && n != 0) {
			__atomic_store_n(&d->broken, (uint32_t)-n, __ATOMIC_RELEASE);
		}
	} while (n == 16 || n == -FI_EAVAIL);
	if (__atomic_load_n(&d->mail.waiting, __ATOMIC_RELAXED))
		shim_resend(d);
	return total;
}

// shim_poll makes one pass of progress, unless somebody else is at it, and returns
// how many operations completed.
int shim_poll(struct shim_domain *d)
{
	int total;

	if (!shim_lock(d)) {
		pause_core();
		return 0;
	}
	total = shim_pass(d);
	shim_unlock(d);
	return total;
}

void shim_futex(uint32_t *word, int op, uint32_t val, const struct timespec *timeout)
{
	syscall(SYS_futex, word, op, val, timeout, NULL, 0);
}

// shim_ring wakes who sleeps: memory may have been written, or something completed.
void shim_ring(struct shim_domain *d)
{
	uint32_t *other = __atomic_load_n(&d->other_sleepers, __ATOMIC_ACQUIRE);

	__atomic_thread_fence(__ATOMIC_SEQ_CST); // pairs with that of who goes to sleep
	if (__atomic_load_n(&d->sleepers, __ATOMIC_RELAXED)) {
		__atomic_fetch_add(&d->doorbell, 1, __ATOMIC_RELEASE);
		shim_futex(&d->doorbell, FUTEX_WAKE_PRIVATE, 1, NULL);
	}
	if (other && __atomic_load_n(other, __ATOMIC_RELAXED)) {
		__atomic_fetch_add(d->other_doorbell, 1, __ATOMIC_RELEASE);
		shim_futex(d->other_doorbell, FUTEX_WAKE, 1, NULL); // shared between processes
	}
}

// shim_handback ends the thread's standing by.
void shim_handback(struct shim_domain *d)
{
	__atomic_fetch_add(&d->handback, 1, __ATOMIC_SEQ_CST);
	shim_futex(&d->handback, FUTEX_WAKE_PRIVATE, 1, NULL);
}

static bool asleep(struct shim_domain *d)
{
	uint32_t *other = __atomic_load_n(&d->other_sleepers, __ATOMIC_ACQUIRE);

	return __atomic_load_n(&d->sleepers, __ATOMIC_RELAXED) || (other && __atomic_load_n(other, __ATOMIC_RELAXED));
}

enum { CLOCK_PASSES = 4 };

// A spin polls until its caller has what it wants or the time is up. While one is
// under way, the thread stands back.
static struct shim_spin spin_begin(struct shim_domain *d, uint64_t ns)
{
	struct shim_spin b = {.domain = d, .start = shim_now(), .length = ns};

	// Too many at once only keep each other, and whom they wait for, from running.
	if (__atomic_fetch_add(&d->spinners, 1, __ATOMIC_SEQ_CST) >= d->config.spinners)
		b.length = 0;
	return b;
}

struct shim_spin shim_spin_begin(struct shim_stream *s, uint64_t extra_ns)
{
	struct shim_spin b = spin_begin(s->domain, s->domain->config.spin_ns + extra_ns);

	b.late = s->late;
	return b;
}

// shim_spin_pass polls once and reports whether there is time for more.
bool shim_spin_pass(struct shim_spin *b)
{
	struct shim_domain *d = b->domain;
	uint64_t passed;

	shim_poll(d);
	if (++b->passes > d->config.pauses && b->passes % d->config.yields == 0)
		sched_yield();
	// A look at the clock costs as much as a tenth of a pass.
	if (b->passes % CLOCK_PASSES && b->length)
		return true;
	if (!b->late && shim_aborted(d))
		return false;
	passed = shim_now() - b->start;
	// What was polled in may be what a goroutine sleeps for.
	if (passed / 50000 > b->rings) {
		b->rings = passed / 50000;
		shim_ring(d);
	}
	return passed < b->length || b->passes < 2;
}

void shim_spin_end(struct shim_spin *b)
{
	__atomic_fetch_add(&b->domain->activity, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&b->domain->spinners, 1, __ATOMIC_SEQ_CST);
}

// shim_progress is one pass for callers that poll by themselves.
int shim_progress(struct shim_domain *d)
{
	__atomic_fetch_add(&d->activity, 1, __ATOMIC_RELAXED);
	return shim_poll(d);
}

static bool holds(const struct shim_cond *c)
{
	uint64_t word, value = c->value;
	unsigned unused = 64 - 8 * c->size;
	int order;

	switch (c->size) {
	case 1: word = __atomic_load_n((const uint8_t *)c->word, __ATOMIC_ACQUIRE); break;
	case 2: word = __atomic_load_n((const uint16_t *)c->word, __ATOMIC_ACQUIRE); break;
	case 4: word = __atomic_load_n((const uint32_t *)c->word, __ATOMIC_ACQUIRE); break;
	default: word = __atomic_load_n((const uint64_t *)c->word, __ATOMIC_ACQUIRE);
	}
	word <<= unused;
	value <<= unused;
	if (c->is_signed)
		order = ((int64_t)word > (int64_t)value) - ((int64_t)word < (int64_t)value);
	else
		order = (word > value) - (word < value);
	switch (c->cmp) {
	case 0: return order == 0;
	case 1: return order != 0;
	case 2: return order > 0;
	case 3: return order >= 0;
	case 4: return order < 0;
	default: return order <= 0;
	}
}

// shim_wait_word polls until c holds (SHIM_DONE) or the time is up (SHIM_PENDING).
int64_t shim_wait_word(struct shim_domain *d, struct shim_cond c, uint64_t spin_ns)
{
	struct shim_spin b = spin_begin(d, spin_ns);
	bool done;

	while (!(done = holds(&c)) && shim_spin_pass(&b))
		;
	shim_spin_end(&b);
	return done || holds(&c) ? SHIM_DONE : SHIM_PENDING;
}

enum { STANDBY_GROWTH = 64, IDLE_MS = 100, SLACK_NS = 1000, TICK_NS = 4000000 };

// stand_by sleeps until progress is handed back, or for a time.
static void stand_by(struct shim_domain *d, uint64_t ns)
{
	struct timespec t = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
	uint32_t v = __atomic_load_n(&d->handback, __ATOMIC_ACQUIRE);

	__atomic_store_n(&d->standing, 1, __ATOMIC_SEQ_CST);
	if (!asleep(d) || __atomic_load_n(&d->spinners, __ATOMIC_SEQ_CST))
		shim_futex(&d->handback, FUTEX_WAIT_PRIVATE, v, &t);
	__atomic_store_n(&d->standing, 0, __ATOMIC_RELEASE);
}

// rest sleeps until the provider has something to do. It returns 1 then, or if it cannot be
// known, 0 after a time, and -1 when the thread is to end.
static int rest(struct shim_domain *d)
{
	struct pollfd fds[2] = {{.fd = d->stop_fd, .events = POLLIN}, {.fd = d->wait_fd, .events = POLLIN}};
	struct fid *fid = &d->cq->fid;
	int timeout = IDLE_MS, n;

	if (d->wait_fd < 0) { // a poll now and then is all there is
		struct timespec t = {.tv_nsec = 50000};

		nanosleep(&t, NULL);
		timeout = 0;
	} else if (shim_lock(d)) {
		if (fi_trywait(d->fabric, &fid, 1) != FI_SUCCESS)
			timeout = 0;
		shim_unlock(d);
	} else {
		timeout = 0;
	}
	n = poll(fds, d->wait_fd < 0 ? 1 : 2, timeout);
	return fds[0].revents ? -1 : n != 0 || timeout == 0;
}

// shim_thread polls whenever the provider has something to do, unless callers have
// polled since it last looked: then it would only take their core from them.
void *shim_thread(void *domain)
{
	struct shim_domain *d = domain;
	uint32_t seen = __atomic_load_n(&d->activity, __ATOMIC_RELAXED);
	uint64_t standby = d->config.standby_ns;

	prctl(PR_SET_NAME, "goshmem-ofi");
	prctl(PR_SET_TIMERSLACK, SLACK_NS);
	for (;;) {
		uint32_t active = __atomic_load_n(&d->activity, __ATOMIC_RELAXED);
		bool spun = active != seen;
		int came;

		seen = active;
		if (__atomic_load_n(&d->spinners, __ATOMIC_SEQ_CST) || (spun && !asleep(d))) {
			// While one goroutine polls another may sleep, and must not wait for
			// longer because the first stops polling.
			if (asleep(d))
				standby = d->config.standby_ns;
			if (standby < STANDBY_GROWTH * d->config.standby_ns) {
				stand_by(d, standby);
				standby *= 2;
			} else {
				// A timer's interrupt of its own would cost whoever polls more
				// than the look does: it comes with the next tick.
				prctl(PR_SET_TIMERSLACK, TICK_NS);
				stand_by(d, standby);
				prctl(PR_SET_TIMERSLACK, SLACK_NS);
			}
			if (__atomic_load_n(&d->stopping, __ATOMIC_ACQUIRE))
				return NULL;
			continue;
		}
		standby = d->config.standby_ns;
		came = d->sockets.used ? shim_sockets_sleep(d) : rest(d);
		if (came < 0)
			return NULL;
		if (__atomic_load_n(&d->spinners, __ATOMIC_SEQ_CST))
			continue;
		if (shim_poll(d) || came) // else nothing has come in, and who sleeps would poll in vain
			shim_ring(d);
	}
}
