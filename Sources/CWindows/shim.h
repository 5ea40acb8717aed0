// XCB with the extensions that windows need, keyboards, and what draws on pictures.
#ifndef PIPSINK_CWINDOWS_SHIM_H
#define PIPSINK_CWINDOWS_SHIM_H

#include <cairo.h>
#include <fcntl.h>
#include <glib.h>
#include <pango/pangocairo.h>
#include <sys/eventfd.h>
#include <sys/shm.h>
#include <unistd.h>
#include <xcb/randr.h>
#include <xcb/shm.h>
#include <xcb/xcb.h>
#include <xkbcommon/xkbcommon-keysyms.h>
#include <xkbcommon/xkbcommon-x11.h>
#include <xkbcommon/xkbcommon.h>

// The extensions' names are variables, which Swift takes for ones that threads may change at once.
/// What an X server says of MIT-SHM. XCB owns it.
static inline const xcb_query_extension_reply_t *pipsink_shared_memory_extension(xcb_connection_t *connection) {
  return xcb_get_extension_data(connection, &xcb_shm_id);
}
/// What an X server says of RandR. XCB owns it.
static inline const xcb_query_extension_reply_t *pipsink_randr_extension(xcb_connection_t *connection) {
  return xcb_get_extension_data(connection, &xcb_randr_id);
}

#endif
