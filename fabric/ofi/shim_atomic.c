// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

// Atomics: fi_atomicmsg, fi_fetch_atomicmsg and fi_compare_atomicmsg, and quiet.

#include <string.h>

#include "shim.h"

// An operand lives in its operation until that completes, so that providers
// that do not copy it find it there.
static int64_t post(struct shim_stream *s, struct shim_op *op, const struct shim_target *to, int fi_op, int datatype, bool fetch, bool compare, struct shim_spin *b)
{
	struct shim_domain *d = s->domain;
	struct fi_ioc operand = {.addr = &op->operand, .count = 1};
	struct fi_ioc comparand = {.addr = &op->comparand, .count = 1};
	struct fi_ioc result = {.addr = &op->result, .count = 1};
	struct fi_rma_ioc remote = {.addr = to->at, .count = 1, .key = to->key};
	void *none = NULL;
	struct fi_msg_atomic msg = {
		.msg_iov = &operand,
		.desc = &none,
		.iov_count = 1,
		.addr = to->addr,
		.rma_iov = &remote,
		.rma_iov_count = 1,
		.datatype = datatype,
		.op = fi_op,
		.context = op,
	};
	const uint64_t flags = FI_DELIVERY_COMPLETE | FI_COMPLETION;
	uint64_t *count = compare ? &d->counters.compares : fetch ? &d->counters.fetches : &d->counters.atomics;
	int64_t ret;

	for (;;) {
		if (shim_full(s, op->wait))
			ret = -FI_EAGAIN;
		else if (compare)
			ret = fi_compare_atomicmsg(s->ep, &msg, &comparand, &none, 1, &result, &none, 1, flags);
		else if (fetch)
			ret = fi_fetch_atomicmsg(s->ep, &msg, &result, &none, 1, flags);
		else
			ret = fi_atomicmsg(s->ep, &msg, flags);
		if (ret != -FI_EAGAIN || !shim_spin_pass(b))
			break;
	}
	if (ret)
		shim_untake(op);
	else
		__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
	return ret;
}

static struct shim_result posted(int64_t ret)
{
	return (struct shim_result){.status = ret == -FI_EAGAIN ? SHIM_AGAIN : ret};
}

// shim_atomic posts an operation that returns nothing. It is counted.
struct shim_result shim_atomic(struct shim_stream *s, struct shim_target to, int fi_op, int datatype, uint64_t v)
{
	struct shim_op *op = shim_take(s, NULL, SHIM_ATOMIC, to.pe);
	struct shim_spin b;
	int64_t ret;

	if (!op)
		return posted(-FI_ENOMEM);
	op->operand = v;
	b = shim_spin_begin(s, 0);
	ret = post(s, op, &to, fi_op, datatype, false, false, &b);
	shim_spin_end(&b);
	return posted(ret);
}

// shim_fuses reports whether a put of size bytes and the signal that follows it fit one
// message: an atomic write of words, some here and one there.
bool shim_fuses(struct shim_domain *d, struct shim_target to, size_t size, int fi_op)
{
	return fi_op == FI_ATOMIC_WRITE && size > 0 && size <= d->fused && size % 8 == 0 && to.at % 8 == 0;
}

// post_words posts an atomic write of words from a bounce buffer, which it takes over, to
// one range there or several. It is counted. SHIM_AGAIN comes with 0.
static struct shim_result post_words(struct shim_stream *s, const struct shim_target *to, void *bounce, const struct fi_rma_ioc *remote, size_t nremote)
{
	struct shim_domain *d = s->domain;
	struct shim_op *op = shim_take(s, NULL, SHIM_ATOMIC, to->pe);
	struct fi_ioc words = {.addr = bounce};
	void *none = NULL;
	struct fi_msg_atomic msg = {
		.msg_iov = &words,
		.desc = &none,
		.iov_count = 1,
		.addr = to->addr,
		.rma_iov = remote,
		.rma_iov_count = nremote,
		.datatype = FI_UINT64,
		.op = FI_ATOMIC_WRITE,
		.context = op,
	};
	struct shim_spin b;
	int64_t ret;

	if (!op) {
		shim_unbounce(s, bounce);
		return posted(-FI_ENOMEM);
	}
	for (size_t i = 0; i < nremote; i++)
		words.count += remote[i].count;
	op->bounce = bounce;
	b = shim_spin_begin(s, 0);
	do
		ret = shim_full(s, NULL) ? -FI_EAGAIN : fi_atomicmsg(s->ep, &msg, FI_DELIVERY_COMPLETE | FI_COMPLETION);
	while (ret == -FI_EAGAIN && shim_spin_pass(&b));
	shim_spin_end(&b);
	if (ret)
		shim_untake(op);
	else
		__atomic_fetch_add(&d->counters.atomics, 1, __ATOMIC_RELAXED);
	return posted(ret);
}

// shim_put_fused posts a put together with its signal.
struct shim_result shim_put_fused(struct shim_stream *s, struct shim_target to, const uint8_t *src, size_t size, struct shim_target signal, uint64_t v, void *bounce)
{
	const struct fi_rma_ioc remote[2] = {
		{.addr = to.at, .count = size / 8, .key = to.key},
		{.addr = signal.at, .count = 1, .key = signal.key},
	};

	memcpy(bounce, src, size);
	memcpy((uint8_t *)bounce + size, &v, 8);
	return post_words(s, &to, bounce, remote, 2);
}

// shim_put_words writes words, from the from-th on, each of them untorn. They are copied.
// SHIM_AGAIN comes with how many of them are posted.
struct shim_result shim_put_words(struct shim_stream *s, struct shim_target to, const uint64_t *words, size_t count, size_t from)
{
	struct shim_result r = {0};

	while (from < count) {
		size_t n = count - from < s->domain->words ? count - from : s->domain->words;
		const struct fi_rma_ioc remote = {.addr = to.at + 8 * from, .count = n, .key = to.key};
		void *bounce = shim_bounce(s);

		r.status = SHIM_AGAIN;
		if (bounce) {
			memcpy(bounce, words + from, 8 * n);
			r = post_words(s, &to, bounce, &remote, 1);
		}
		if (r.status) {
			r.value = from;
			break;
		}
		from += n;
	}
	return r;
}

// shim_fetch returns the value that the word had before.
struct shim_result shim_fetch(struct shim_stream *s, struct shim_target to, int fi_op, int datatype, bool compare, uint64_t v, uint64_t cmp)
{
	struct shim_wait *w = shim_wait_new(s);
	struct shim_op *op = w ? shim_take(s, w, SHIM_ATOMIC, to.pe) : NULL;
	struct shim_spin b;
	struct shim_result r;
	int64_t ret;

	if (!op) {
		if (w)
			shim_release(s, w);
		return posted(-FI_ENOMEM);
	}
	op->operand = v;
	op->comparand = cmp;
	b = shim_spin_begin(s, 0);
	ret = post(s, op, &to, fi_op, datatype, true, compare, &b);
	if (ret) {
		shim_release(s, w);
		r = posted(ret);
	} else {
		r = shim_settle(s, w, &b);
	}
	shim_spin_end(&b);
	return r;
}

// shim_fetch_counted writes that value to dest before its completion is counted.
struct shim_result shim_fetch_counted(struct shim_stream *s, struct shim_target to, int fi_op, int datatype, bool compare, uint64_t v, uint64_t cmp, uint8_t *dest, uint8_t size)
{
	struct shim_op *op = shim_take(s, NULL, SHIM_ATOMIC, to.pe);
	struct shim_spin b;
	int64_t ret;

	if (!op)
		return posted(-FI_ENOMEM);
	op->operand = v;
	op->comparand = cmp;
	op->dest = dest;
	op->size = size;
	b = shim_spin_begin(s, 0);
	ret = post(s, op, &to, fi_op, datatype, true, compare, &b);
	shim_spin_end(&b);
	return posted(ret);
}

// shim_quiet waits for what the stream has counted so far, as long as a spin lasts.
// SHIM_PENDING: the caller waits until oldest exceeds value, and calls shim_quieted.
// Later operations are counted in a later epoch and delay nobody.
struct shim_result shim_quiet(struct shim_stream *s, bool take)
{
	struct shim_result r = {0};
	struct shim_spin b;

	pthread_mutex_lock(&s->mutex);
	while (s->oldest < s->epoch && s->open[s->oldest % SHIM_EPOCHS] == 0)
		__atomic_store_n(&s->oldest, s->oldest + 1, __ATOMIC_RELEASE);
	r.value = s->epoch;
	if (s->oldest == s->epoch && s->open[s->epoch % SHIM_EPOCHS] == 0) {
		pthread_mutex_unlock(&s->mutex);
		return shim_quieted(s, 0, take);
	}
	if (s->open[s->epoch % SHIM_EPOCHS] == 0)
		r.value--; // an empty epoch stays open
	else if (s->epoch - s->oldest < SHIM_EPOCHS - 1)
		s->epoch++;
	else
		r.status = SHIM_AGAIN; // as many quiets as there are epochs wait already
	pthread_mutex_unlock(&s->mutex);
	if (r.status)
		return r;

	b = shim_spin_begin(s, 0);
	for (;;) {
		if (__atomic_load_n(&s->oldest, __ATOMIC_ACQUIRE) > r.value)
			break;
		if (!shim_spin_pass(&b) && __atomic_load_n(&s->oldest, __ATOMIC_ACQUIRE) <= r.value) {
			r.status = SHIM_PENDING;
			break;
		}
	}
	shim_spin_end(&b);
	return r.status == SHIM_PENDING ? r : shim_quieted(s, r.value, take);
}

// shim_quieted returns the first failure since it last did, in a wait that the
// caller releases.
struct shim_result shim_quieted(struct shim_stream *s, uint64_t epoch, bool take)
{
	struct shim_result r = {.value = epoch};

	if (!take || !__atomic_load_n(&s->failed, __ATOMIC_ACQUIRE))
		return r;
	r.wait = shim_wait_new(s);
	if (!r.wait) {
		r.status = -FI_ENOMEM;
		return r;
	}
	pthread_mutex_lock(&s->mutex);
	r.wait->error = s->error;
	r.status = -s->error.code;
	s->error.code = 0;
	__atomic_store_n(&s->failed, 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&s->mutex);
	if (r.status == 0) { // another quiet was faster
		shim_release(s, r.wait);
		r.wait = NULL;
	}
	return r;
}
