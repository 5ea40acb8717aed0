// XCB and libwayland for windows, xkbcommon for keyboards, and cairo and Pango for drawing on pictures.
#ifndef PIPSINK_CWINDOWS_SHIM_H
#define PIPSINK_CWINDOWS_SHIM_H

#include <cairo.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib-unix.h>
#include <glib.h>
#include <pango/pangocairo.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wayland-client.h>
#include <wayland-cursor.h>
#include <xcb/present.h>
#include <xcb/randr.h>
#include <xcb/shape.h>
#include <xcb/shm.h>
#include <xcb/xcb.h>
#include <xcb/xcbext.h>
#include <xcb/xkb.h>
#include <xkbcommon/xkbcommon-keysyms.h>
#include <xkbcommon/xkbcommon-x11.h>
#include <xkbcommon/xkbcommon.h>

// libdispatch exports these functions for CFRunLoop, but declares them in no public header.
/// Returns an eventfd that can be read when the main queue has work. Call it on the main thread.
extern int _dispatch_get_main_queue_handle_4CF(void);
/// Runs the work of the main queue. Call it on the main thread.
extern void _dispatch_main_queue_callback_4CF(void *unused);

// The extensions are global variables, which Swift 6 refuses as unsafe, because several threads might change them.
/// The X server's reply about the extension MIT-SHM. XCB owns it.
static inline const xcb_query_extension_reply_t *pipsink_shared_memory_extension(xcb_connection_t *connection) {
  return xcb_get_extension_data(connection, &xcb_shm_id);
}
/// The X server's reply about the extension RandR. XCB owns it.
static inline const xcb_query_extension_reply_t *pipsink_randr_extension(xcb_connection_t *connection) {
  return xcb_get_extension_data(connection, &xcb_randr_id);
}
/// The X server's reply about the extension SHAPE. XCB owns it.
static inline const xcb_query_extension_reply_t *pipsink_shape_extension(xcb_connection_t *connection) {
  return xcb_get_extension_data(connection, &xcb_shape_id);
}
/// The X server's reply about the extension Present. XCB owns it.
static inline const xcb_query_extension_reply_t *pipsink_present_extension(xcb_connection_t *connection) {
  return xcb_get_extension_data(connection, &xcb_present_id);
}
/// Reads an event that says that an awaited refresh of the screen has come: the number of the request, the time of the
/// refresh in microseconds, and its number. Swift cannot read the packed structure. Returns 0 for other events.
static inline int pipsink_present_completion(
    const xcb_generic_event_t *_Nonnull event, uint32_t *_Nonnull serial, uint64_t *_Nonnull time,
    uint64_t *_Nonnull number) {
  const xcb_present_complete_notify_event_t *notice = (const xcb_present_complete_notify_event_t *)event;
  if (notice->event_type != XCB_PRESENT_COMPLETE_NOTIFY || notice->kind != XCB_PRESENT_COMPLETE_KIND_NOTIFY_MSC)
    return 0;
  *serial = notice->serial;
  *time = notice->ust;
  *number = notice->msc;
  return 1;
}

// Swift would pass copies of these constants, but libwayland keeps the addresses of interfaces.
static inline const struct wl_interface *_Nonnull pipsink_wl_buffer(void) { return &wl_buffer_interface; }
static inline const struct wl_interface *_Nonnull pipsink_wl_callback(void) { return &wl_callback_interface; }
static inline const struct wl_interface *_Nonnull pipsink_wl_compositor(void) { return &wl_compositor_interface; }
static inline const struct wl_interface *_Nonnull pipsink_wl_display(void) { return &wl_display_interface; }
static inline const struct wl_interface *_Nonnull pipsink_wl_keyboard(void) { return &wl_keyboard_interface; }
static inline const struct wl_interface *_Nonnull pipsink_wl_output(void) { return &wl_output_interface; }
static inline const struct wl_interface *_Nonnull pipsink_wl_pointer(void) { return &wl_pointer_interface; }
static inline const struct wl_interface *_Nonnull pipsink_wl_region(void) { return &wl_region_interface; }
static inline const struct wl_interface *_Nonnull pipsink_wl_registry(void) { return &wl_registry_interface; }
static inline const struct wl_interface *_Nonnull pipsink_wl_seat(void) { return &wl_seat_interface; }
static inline const struct wl_interface *_Nonnull pipsink_wl_shm(void) { return &wl_shm_interface; }
static inline const struct wl_interface *_Nonnull pipsink_wl_shm_pool(void) { return &wl_shm_pool_interface; }
static inline const struct wl_interface *_Nonnull pipsink_wl_subcompositor(void) { return &wl_subcompositor_interface; }
static inline const struct wl_interface *_Nonnull pipsink_wl_subsurface(void) { return &wl_subsurface_interface; }
static inline const struct wl_interface *_Nonnull pipsink_wl_surface(void) { return &wl_surface_interface; }
static inline const struct wl_interface *_Nonnull pipsink_wl_touch(void) { return &wl_touch_interface; }

/// Allocates anonymous memory that can be shared with another process. Returns a descriptor, or a negative number on
/// failure.
static inline int pipsink_shareable_memory(size_t size) {
  int descriptor = (int)syscall(SYS_memfd_create, "pipsink", 1u /* MFD_CLOEXEC */);
  // The pages are allocated now. If they were missing later, drawing would end the program.
  if (descriptor >= 0 && posix_fallocate(descriptor, 0, (off_t)size) != 0) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

#endif
