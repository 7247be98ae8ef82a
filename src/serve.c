/* SPDX-License-Identifier: MIT */
#define FUSE_USE_VERSION 312

#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum source { FROM_KERNEL, FROM_SIGNALS, FROM_OTHER };

static int serve_watch(int poll, int fd, uint32_t events, enum source source)
{
	struct epoll_event e = {.events = events, .data.u32 = source};

	return epoll_ctl(poll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

/* A request wakes one of those that wait for it, not both. */
static int serve_open_poll(const struct zr_serve *v, int *ret)
{
	int r;

	*ret = epoll_create1(EPOLL_CLOEXEC);
	if (*ret < 0)
		return -errno;
	r = serve_watch(*ret, fuse_session_fd(v->session), EPOLLIN | EPOLLEXCLUSIVE,
	                FROM_KERNEL);
	return r < 0 ? r : serve_watch(*ret, v->stop, EPOLLIN, FROM_OTHER);
}

int zr_serve_open(struct zr_serve *v, struct fuse_session *session, int signals)
{
	int fd = fuse_session_fd(session), r = 0;

	*v = (struct zr_serve){.session = session, .polls = {-1, -1}};
	/* A request may be withdrawn before it is read, or be read by the other thread:
	 * who waited for one in read() would sleep where no signal reaches it. */
	fcntl(fd, F_SETFL, O_NONBLOCK | fcntl(fd, F_GETFL));
	v->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (v->stop < 0)
		return -errno;
	for (int i = 0; i < 2 && r == 0; i++)
		r = serve_open_poll(v, &v->polls[i]);
	return r < 0 ? r : serve_watch(v->polls[0], signals, EPOLLIN, FROM_SIGNALS);
}

void zr_serve_close(struct zr_serve *v)
{
	for (int i = 0; i < 2; i++)
		if (v->polls[i] >= 0)
			close(v->polls[i]);
	if (v->stop >= 0)
		close(v->stop);
}

static void fuse_buf_free(struct fuse_buf *b)
{
	free(b->mem);
}

/* One request, if there is one: 1. 0 at the end, -errno. */
static int serve_request(struct fuse_session *se, struct fuse_buf *buf)
{
	int r = fuse_session_receive_buf(se, buf);

	if (r == -EINTR || r == -EAGAIN)
		return 1;
	if (r > 0)
		fuse_session_process_buf(se, buf);
	return r;
}

/* Until the end, or until the other thread is there. */
static int serve_until(struct zr_serve *v, int poll, bool (*on_signal)(void *arg),
                       void *arg)
{
	ZR_CLEANUP(fuse_buf_free) struct fuse_buf buf = {0};
	int r = 1;

	while (r > 0 && !fuse_session_exited(v->session)) {
		struct epoll_event e;

		if (epoll_wait(poll, &e, 1, -1) < 0)
			r = errno == EINTR ? 1 : -errno;
		else if (e.data.u32 == FROM_KERNEL)
			r = serve_request(v->session, &buf);
		else if (e.data.u32 == FROM_OTHER || on_signal(arg))
			r = 0;
	}
	/* From here on answers that nobody waits for are no errors. */
	fuse_session_exit(v->session);
	eventfd_write(v->stop, 1);
	return r < 0 ? r : 0;
}

static void *serve_second(void *arg)
{
	struct zr_serve *v = arg;
	int r;

	pthread_setname_np(pthread_self(), "server");
	r = serve_until(v, v->polls[1], NULL, NULL);
	return (void *)(intptr_t)r;
}

int zr_serve_run(struct zr_serve *v, bool (*on_signal)(void *arg), void *arg)
{
	pthread_t second;
	void *result = NULL;
	bool both = pthread_create(&second, NULL, serve_second, v) == 0;
	int r = serve_until(v, v->polls[0], on_signal, arg);

	if (both)
		pthread_join(second, &result);
	return r < 0 ? r : (int)(intptr_t)result;
}
