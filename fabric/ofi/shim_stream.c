// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

// Streams, and what they take and give back at every operation.

#include <stdlib.h>

#include "shim.h"

// Free operations and waits come in chunks, which live as long as the stream.
enum { CHUNK = 32 };

struct shim_chunk {
	struct shim_chunk *next;
	struct shim_op ops[CHUNK];
	struct shim_wait waits[CHUNK];
};

// grow adds to the free lists. The caller holds the stream's mutex.
static void grow(struct shim_stream *s)
{
	struct shim_chunk *c = calloc(1, sizeof(*c));

	if (!c)
		return;
	c->next = s->chunks;
	s->chunks = c;
	for (int i = 0; i < CHUNK; i++) {
		c->ops[i].next = s->ops;
		s->ops = &c->ops[i];
		c->waits[i].next = s->waits;
		s->waits = &c->waits[i];
	}
}

// shim_stream_open opens a stream on an endpoint; NULL: no memory.
struct shim_stream *shim_stream_open(struct shim_domain *d, uint32_t ep, bool late)
{
	struct shim_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->domain = d;
	s->ep = d->eps[ep];
	s->late = late;
	s->limit = d->info->tx_attr->size < SHIM_INFLIGHT ? d->info->tx_attr->size : SHIM_INFLIGHT;
	pthread_mutex_init(&s->mutex, NULL);
	return s;
}

// shim_stream_close frees a stream that has no operation in flight.
void shim_stream_close(struct shim_stream *s)
{
	// Whoever completed the last operation may still be about to unlock.
	pthread_mutex_lock(&s->mutex);
	pthread_mutex_unlock(&s->mutex);
	for (struct shim_box *b = s->boxes; b; b = b->next)
		if (__atomic_load_n(&b->probes.left, __ATOMIC_ACQUIRE))
			s->leaks = true;
	if (s->leaks)
		return; // completions may come yet
	while (s->boxes) {
		struct shim_box *next = s->boxes->next;
		free(s->boxes);
		s->boxes = next;
	}
	while (s->chunks) {
		struct shim_chunk *next = s->chunks->next;
		free(s->chunks);
		s->chunks = next;
	}
	pthread_mutex_destroy(&s->mutex);
	free(s);
}

// shim_take returns a free operation, counted in the present epoch if nobody waits
// for it. NULL: no memory.
struct shim_op *shim_take(struct shim_stream *s, struct shim_wait *w, int kind, int32_t pe)
{
	struct shim_op *op;

	pthread_mutex_lock(&s->mutex);
	if (!s->ops)
		grow(s);
	op = s->ops;
	if (op) {
		s->ops = op->next;
		op->stream = s;
		op->wait = w;
		op->also = NULL;
		op->flying = true;
		op->kind = kind;
		op->pe = pe;
		op->bounce = op->dest = NULL;
		op->ends = 0;
		op->result = 0;
		if (w) {
			__atomic_fetch_add(&w->left, 1, __ATOMIC_RELAXED);
		} else {
			op->epoch = s->epoch;
			s->open[op->epoch % SHIM_EPOCHS]++;
			__atomic_fetch_add(&s->inflight, 1, __ATOMIC_RELAXED);
		}
	}
	pthread_mutex_unlock(&s->mutex);
	return op;
}

// shim_full reports whether a counted operation, which was taken, has to wait for
// others to complete.
bool shim_full(struct shim_stream *s, struct shim_wait *w)
{
	return !w && __atomic_load_n(&s->inflight, __ATOMIC_RELAXED) > s->limit;
}

// shim_untake takes an operation out of the count and frees it: it has completed,
// or was never posted. A wait that it was part of may be gone afterwards.
void shim_untake(struct shim_op *op)
{
	struct shim_stream *s = op->stream;
	struct shim_wait *w = op->wait, *also;
	bool abandoned = op->kind == SHIM_BATCH && op->abandoned;

	if (op->bounce && !abandoned)
		shim_unbounce(s, op->bounce);
	pthread_mutex_lock(&s->mutex);
	also = op->also;
	op->flying = false;
	if (!abandoned) {
		op->next = s->ops;
		s->ops = op;
	}
	if (!w) {
		s->open[op->epoch % SHIM_EPOCHS]--;
		while (s->oldest < s->epoch && s->open[s->oldest % SHIM_EPOCHS] == 0)
			__atomic_store_n(&s->oldest, s->oldest + 1, __ATOMIC_RELEASE);
		__atomic_fetch_sub(&s->inflight, 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&s->mutex);
	if (w)
		__atomic_fetch_sub(&w->left, 1, __ATOMIC_RELEASE);
	if (also)
		__atomic_fetch_sub(&also->left, 1, __ATOMIC_RELEASE);
}

static int compare_pes(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

// shim_quiet_pes waits for the counted operations so far to the n PEs of pes, which ascend. The
// value is nonzero if another such call waits for one of them: then it has to be repeated.
struct shim_result shim_quiet_pes(struct shim_stream *s, const int32_t *pes, size_t n)
{
	struct shim_spin b;
	struct shim_wait *w = shim_wait_new(s);
	struct shim_result r;

	if (!w)
		return (struct shim_result){.status = -FI_ENOMEM};
	b = shim_spin_begin(s, 0);
	pthread_mutex_lock(&s->mutex);
	for (struct shim_chunk *c = s->chunks; c; c = c->next) {
		for (int i = 0; i < CHUNK; i++) {
			struct shim_op *op = &c->ops[i];

			if (!op->flying || op->wait || !bsearch(&op->pe, pes, n, sizeof(*pes), compare_pes))
				continue;
			if (op->also) {
				w->result = 1;
				continue;
			}
			op->also = w;
			__atomic_fetch_add(&w->left, 1, __ATOMIC_RELAXED);
		}
	}
	pthread_mutex_unlock(&s->mutex);
	r = shim_settle(s, w, &b);
	shim_spin_end(&b);
	return r;
}

// shim_wait_new returns a fresh wait; NULL: no memory.
struct shim_wait *shim_wait_new(struct shim_stream *s)
{
	struct shim_wait *w;

	pthread_mutex_lock(&s->mutex);
	if (!s->waits)
		grow(s);
	w = s->waits;
	if (w) {
		s->waits = w->next;
		w->left = 0;
		w->error.code = 0;
		w->result = 0;
	}
	pthread_mutex_unlock(&s->mutex);
	return w;
}

// shim_release frees a wait of which nothing is left.
void shim_release(struct shim_stream *s, struct shim_wait *w)
{
	pthread_mutex_lock(&s->mutex);
	w->next = s->waits;
	s->waits = w;
	pthread_mutex_unlock(&s->mutex);
}

// shim_bounce returns a bounce buffer; NULL: none is left for the stream, or there is no
// memory. It gets no more than there are free ones, so that the first has half of them
// at most: what waits for a PE that stands leaves some to other streams.
void *shim_bounce(struct shim_stream *s)
{
	struct shim_domain *d = s->domain;
	void *b = NULL;

	pthread_mutex_lock(&d->bounce_mutex);
	if (s->bounces < SHIM_BOUNCES - d->lent) {
		b = d->bounces;
		if (b)
			d->bounces = *(void **)b;
		else if ((b = malloc(SHIM_BOUNCE)))
			d->nbounces++;
		if (b) {
			d->lent++;
			s->bounces++;
		}
	}
	pthread_mutex_unlock(&d->bounce_mutex);
	return b;
}

void shim_unbounce(struct shim_stream *s, void *buffer)
{
	struct shim_domain *d = s->domain;

	pthread_mutex_lock(&d->bounce_mutex);
	*(void **)buffer = d->bounces;
	d->bounces = buffer;
	d->lent--;
	s->bounces--;
	pthread_mutex_unlock(&d->bounce_mutex);
}
