// GTK 3 with its X11 and Wayland parts, and libdispatch's way into a foreign main loop.
#ifndef PIPSINK_CGTK_SHIM_H
#define PIPSINK_CGTK_SHIM_H

#include <gdk/gdkwayland.h>
#include <gdk/gdkx.h>
#include <glib-unix.h>
#include <gtk/gtk.h>

// Exported by libdispatch for CFRunLoop, declared in no public header.
/// An eventfd that can be read when the main queue has work. To be called on the main thread.
extern int _dispatch_get_main_queue_handle_4CF(void);
/// Does the main queue's work. To be called on the main thread.
extern void _dispatch_main_queue_callback_4CF(void *unused);

// The type check is a macro with statements in it, which Swift does not import.
static inline gboolean pipsink_is_wayland_display(GdkDisplay *display) { return GDK_IS_WAYLAND_DISPLAY(display); }

#endif
