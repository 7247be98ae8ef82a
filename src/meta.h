/* SPDX-License-Identifier: MIT */
/*
 * meta.h - metadata documents, v2 and v3, to one description
 *
 *   store bytes -> codec -> chunk cache -> view -> render -> fuse reply
 *
 * The only modules that know JSON metadata are json.c and meta*.c, and the only ones
 * that include <jansson.h>. meta.c looks at what kind of node it is, meta_v2.c and
 * meta_v3.c build the array, fill.c reads fill values by type.
 *
 * Layer 2. May include array.h and below, json.h.
 *
 * Memory: zr_meta_done() frees what a struct zr_meta owns.
 * Threads: no state; any.
 * Errors: a document that cannot be understood is not a failure of the call: the node
 *         exists, `why` says what is wrong. Only -ENOMEM is returned.
 */
#pragma once

#include "array.h"
#include "buf.h"
#include "err.h"

enum zr_node_kind { ZR_NODE_GROUP, ZR_NODE_ARRAY };

struct zr_meta {
	enum zr_node_kind kind; /* ZR_NODE_GROUP also when the document tells nothing */
	struct zr_err why; /* code != 0: cannot be shown, for this reason. -EINVAL broken
	                    * or contradictory, -EOPNOTSUPP known or unknown but not
	                    * supported; the text names the member or field at fault, the
	                    * type or codec as written, and the document */
	bool has_attributes;      /* false: the document could not be read at all */
	struct zr_buf attributes; /* the JSON text of the attributes as stored; "{}" if
	                             absent */
	struct zr_buf codecs;     /* for schema.json: a JSON list of the codecs' names */
	struct zr_array
		*array; /* one reference; NULL for a group or when why.code is set */
};

/* A document's bytes; data NULL: the store has none of that name. Borrowed. */
struct zr_doc {
	const char *data;
	size_t len;
};

/* zarr.json */
ZR_MUST_CHECK int zr_meta_parse_v3(struct zr_doc doc, struct zr_meta *ret);

/* .zgroup or .zarray (exactly one is given; .zarray wins when both are), and .zattrs */
ZR_MUST_CHECK int zr_meta_parse_v2(struct zr_doc zgroup, struct zr_doc zarray,
                                   struct zr_doc zattrs, struct zr_meta *ret);

void zr_meta_done(struct zr_meta *m);

/* The type's name in v3, the one in use where it has several. Not for ZR_JSON, which v3
 * does not have. */
const char *zr_meta_type_name(const struct zr_type *t);
