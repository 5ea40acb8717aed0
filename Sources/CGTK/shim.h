// GTK 3 with its X11 and Wayland parts, and libdispatch's functions for running its main queue in another main loop.
#ifndef PIPSINK_CGTK_SHIM_H
#define PIPSINK_CGTK_SHIM_H

#include <gdk/gdkwayland.h>
#include <gdk/gdkx.h>
#include <glib-unix.h>
#include <gtk/gtk.h>

// libdispatch exports these functions for CFRunLoop, but declares them in no public header.
/// Returns an eventfd that can be read when the main queue has work. Call it on the main thread.
extern int _dispatch_get_main_queue_handle_4CF(void);
/// Runs the work of the main queue. Call it on the main thread.
extern void _dispatch_main_queue_callback_4CF(void *unused);

// The type check is a macro with statements in it, which Swift does not import.
static inline gboolean pipsink_is_wayland_display(GdkDisplay *display) { return GDK_IS_WAYLAND_DISPLAY(display); }

#endif
