/* SPDX-License-Identifier: MIT */
/*
 * memory_store.h - a store out of an input: objects of "KEY LF", their length in two
 * bytes, their bytes
 */
#pragma once

#include "fake_store.h"
#include "fuzz.h"

#define MAX_OBJECTS 24
#define MAX_KEY 64

struct memory_store {
	struct fake_store fake; /* first */
	struct fake_object objects[MAX_OBJECTS];
	size_t count;
};

/* As a directory could hold it beside the others: no empty components, no dots, nothing
 * below an object. */
static inline bool memory_key_is_fine(const struct memory_store *m, const char *key)
{
	size_t len = strlen(key);

	if (len == 0 || len > MAX_KEY || key[0] == '/' || key[len - 1] == '/' ||
	    strstr(key, "//") || strstr(key, "/./") || strstr(key, "/../") ||
	    strncmp(key, "./", 2) == 0 || strncmp(key, "../", 3) == 0)
		return false;
	if (strcmp(strrchr(key, '/') ? strrchr(key, '/') + 1 : key, ".") == 0 ||
	    strcmp(strrchr(key, '/') ? strrchr(key, '/') + 1 : key, "..") == 0)
		return false;
	for (size_t i = 0; i < m->count; i++) {
		const char *other = m->objects[i].key;
		size_t n = ZR_MIN(len, strlen(other));

		if (strncmp(key, other, n) == 0 && (key[n] == '\0' || key[n] == '/') &&
		    (other[n] == '\0' || other[n] == '/'))
			return false;
	}
	return true;
}

static inline void memory_store_init(struct memory_store *m, struct input *in)
{
	*m = (struct memory_store){
		.fake = {.base = {.ops = &fake_ops, .refs = 1}},
	};
	while (in->left > 0 && m->count < MAX_OBJECTS) {
		struct fake_object o = {0};
		size_t len;

		o.key = take_text(in, '\n', &len);
		len = (size_t)take_uint(in, 2);
		o.data = take_block(in, len, &o.len);
		if (memory_key_is_fine(m, o.key)) {
			m->objects[m->count++] = o;
		} else {
			free((char *)o.key);
			free((char *)o.data);
		}
	}
	m->fake.objects = m->objects;
	m->fake.count = m->count;
}

static inline void memory_store_done(struct memory_store *m)
{
	for (size_t i = 0; i < m->count; i++) {
		free((char *)m->objects[i].key);
		free((char *)m->objects[i].data);
	}
}
