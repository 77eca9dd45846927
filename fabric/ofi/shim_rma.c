// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

// Puts and gets: fi_writemsg and fi_readmsg, always with FI_DELIVERY_COMPLETE and
// a completion. The fi_inject calls are not used for them: they complete when the data
// has left, whatever the endpoint was asked for. That is what notes want.

#include <string.h>

#include "shim.h"

static struct shim_result again(uint64_t at, struct shim_wait *w)
{
	return (struct shim_result){.status = SHIM_AGAIN, .value = at, .wait = w};
}

// shim_post hands a message to the provider; -FI_EAGAIN: there was no room for as long
// as the spin lasted. The operation's completion goes to w, or is counted if that is NULL.
int64_t shim_post(struct shim_stream *s, const struct shim_target *to, const struct shim_message *m, struct shim_wait *w, void *bounce, struct shim_spin *b)
{
	struct shim_domain *d = s->domain;
	struct shim_op *op = shim_take(s, w, m->kind, to->pe);
	void *none[SHIM_IOVS] = {0};
	struct fi_msg_rma msg = {
		.msg_iov = m->local,
		.desc = none,
		.iov_count = m->nlocal,
		.addr = to->addr,
		.rma_iov = m->remote,
		.rma_iov_count = m->nremote,
		.context = op,
	};
	int64_t ret;

	if (!op) {
		if (bounce)
			shim_unbounce(s, bounce);
		return -FI_ENOMEM;
	}
	op->bounce = bounce;
	if (m->dest) {
		op->dest = m->dest;
		op->scatter = m->scatter;
	}
	for (;;) {
		if (shim_full(s, w))
			ret = -FI_EAGAIN;
		else
			ret = m->kind == SHIM_PUT ? fi_writemsg(s->ep, &msg, m->flags) : fi_readmsg(s->ep, &msg, m->flags);
		if (ret != -FI_EAGAIN)
			break;
		if (!shim_spin_pass(b))
			break;
	}
	if (ret) {
		shim_untake(op);
		return ret;
	}
	__atomic_fetch_add(m->kind == SHIM_PUT ? &d->counters.writes : &d->counters.reads, 1, __ATOMIC_RELAXED);
	if (m->flags & FI_INJECT)
		__atomic_fetch_add(&d->counters.injected, 1, __ATOMIC_RELAXED);
	if (bounce && m->kind == SHIM_PUT)
		__atomic_fetch_add(&d->counters.bounced, 1, __ATOMIC_RELAXED);
	return 0;
}

// shim_settle waits for what w stands for, as long as the spin lasts, and frees it
// if it is done without an error.
struct shim_result shim_settle(struct shim_stream *s, struct shim_wait *w, struct shim_spin *b)
{
	struct shim_result r = {0};

	if (!w)
		return r;
	r.wait = w;
	while (__atomic_load_n(&w->left, __ATOMIC_ACQUIRE)) {
		if (!shim_spin_pass(b) && __atomic_load_n(&w->left, __ATOMIC_ACQUIRE)) {
			r.status = SHIM_PENDING;
			return r;
		}
	}
	return shim_finish(s, w);
}

// shim_finish returns how an awaited operation ended. It frees w, unless there is
// an error in it.
struct shim_result shim_finish(struct shim_stream *s, struct shim_wait *w)
{
	struct shim_result r = {.value = w->result, .wait = w};

	if (w->error.code) {
		r.status = -w->error.code;
		return r;
	}
	shim_release(s, w);
	r.wait = NULL;
	return r;
}

// fail ends a call whose post was refused: with the error, or, while something that
// it posted before is in flight, when that has ended.
static struct shim_result fail(struct shim_stream *s, struct shim_wait *w, int64_t ret, int kind, const struct shim_target *to, struct shim_spin *b)
{
	if (!w)
		return (struct shim_result){.status = ret};
	pthread_mutex_lock(&s->mutex);
	if (w->error.code == 0) {
		w->error.code = -ret;
		w->error.pe = to->pe;
		w->error.kind = kind;
		strncpy(w->error.text, fi_strerror(-ret), SHIM_TEXT - 1);
	}
	pthread_mutex_unlock(&s->mutex);
	return shim_settle(s, w, b);
}

// shim_end ends a call that came as far as from: ret is what became of its last post.
struct shim_result shim_end(struct shim_stream *s, const struct shim_target *to, int kind, uint64_t from, struct shim_wait *w, int64_t ret, struct shim_spin *b)
{
	struct shim_result r = ret == -FI_EAGAIN ? again(from, w) : ret ? fail(s, w, ret, kind, to, b) : shim_settle(s, w, b);

	shim_spin_end(b);
	return r;
}

static void one_range(struct shim_message *m, const struct shim_target *to, const void *local, size_t at, size_t size)
{
	m->nlocal = m->nremote = 1;
	m->local[0].iov_base = (void *)local;
	m->local[0].iov_len = size;
	m->remote[0] = (struct fi_rma_iov){.addr = to->at + at, .len = size, .key = to->key};
}

// shim_put writes src from byte from on. how is SHIM_COPY, SHIM_KEEP or SHIM_AWAIT;
// w is NULL at first.
struct shim_result shim_put(struct shim_stream *s, struct shim_target to, const uint8_t *src, size_t size, size_t from, int how, struct shim_wait *w)
{
	struct shim_domain *d = s->domain;
	struct shim_spin b;
	int64_t ret = 0;

	b = shim_spin_begin(s, how == SHIM_KEEP ? 0 : size);
	while (from < size) {
		struct shim_message m = {.kind = SHIM_PUT, .flags = FI_DELIVERY_COMPLETE | FI_COMPLETION};
		size_t n = size - from < d->config.max_message ? size - from : d->config.max_message;
		bool await = how == SHIM_AWAIT;
		void *bounce = NULL;

		one_range(&m, &to, src + from, from, n);
		if (n <= d->info->tx_attr->inject_size && size == n) {
			m.flags |= FI_INJECT;
		} else if (how != SHIM_AWAIT && size <= SHIM_BOUNCE) {
			while (!(bounce = shim_bounce(s)) && shim_spin_pass(&b))
				;
			if (!bounce) {
				ret = -FI_EAGAIN;
				break;
			}
			memcpy(bounce, src + from, n);
			m.local[0].iov_base = bounce;
		} else if (how == SHIM_COPY) {
			await = true;
		}
		if (await && !w && !(w = shim_wait_new(s))) {
			ret = -FI_ENOMEM;
			break;
		}
		if ((ret = shim_post(s, &to, &m, await ? w : NULL, bounce, &b)))
			break;
		from += n;
	}
	return shim_end(s, &to, SHIM_PUT, from, w, ret, &b);
}

// shim_get reads into dst from byte from on. If it is counted, dst stays as it is
// until the completion is.
struct shim_result shim_get(struct shim_stream *s, struct shim_target to, uint8_t *dst, size_t size, size_t from, bool counted, struct shim_wait *w)
{
	struct shim_domain *d = s->domain;
	struct shim_spin b;
	int64_t ret = 0;

	b = shim_spin_begin(s, counted ? 0 : size);
	if (!counted && !w && !(w = shim_wait_new(s)))
		ret = -FI_ENOMEM;
	while (!ret && from < size) {
		struct shim_message m = {.kind = SHIM_GET, .flags = FI_COMPLETION};
		size_t n = size - from < d->config.max_message ? size - from : d->config.max_message;

		one_range(&m, &to, dst + from, from, n);
		if (!(ret = shim_post(s, &to, &m, w, NULL, &b)))
			from += n;
	}
	return shim_end(s, &to, SHIM_GET, from, w, ret, &b);
}

// shim_put_signal writes src, waits for its delivery, then updates the signal, unless
// they can go out together, for which there must be a bounce buffer. A from of
// size + 1 says that the data is there.
struct shim_result shim_put_signal(struct shim_stream *s, struct shim_target to, const uint8_t *src, size_t size, struct shim_target signal, int op, uint64_t v, size_t from, struct shim_wait *w)
{
	void *bounce = from == 0 && !w && shim_fuses(s->domain, to, size, op) ? shim_bounce(s) : NULL;

	if (bounce)
		return shim_put_fused(s, to, src, size, signal, v, bounce);
	if (from <= size) {
		struct shim_result r = shim_put(s, to, src, size, from, SHIM_AWAIT, w);
		if (r.status != SHIM_DONE)
			return r;
	}
	struct shim_result r = shim_atomic(s, signal, op, FI_UINT64, v);
	if (r.status == SHIM_AGAIN)
		r.value = size + 1;
	return r;
}

// shim_notify writes words. Nobody learns when they have come, or that they have not, except by
// the end of the job.
struct shim_result shim_notify(struct shim_stream *s, struct shim_target to, const uint64_t *words, size_t count)
{
	struct shim_spin b = shim_spin_begin(s, 0);
	int64_t ret;

	do
		ret = fi_inject_write(s->ep, words, 8 * count, to.addr, to.at, to.key);
	while (ret == -FI_EAGAIN && shim_spin_pass(&b));
	shim_spin_end(&b);
	if (ret == 0) {
		// There is a connection, or the provider would have had no room.
		__atomic_store_n(&s->domain->heard[to.pe], 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&s->domain->counters.notes, 1, __ATOMIC_RELAXED);
	}
	return (struct shim_result){.status = ret == -FI_EAGAIN ? SHIM_AGAIN : ret};
}
