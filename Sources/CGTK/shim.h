// GTK 3 with its X11 and Wayland parts, gtk-layer-shell, and libdispatch's way into a foreign main loop.
#ifndef PIPSINK_CGTK_SHIM_H
#define PIPSINK_CGTK_SHIM_H

#include <glib-unix.h>
#include <gtk/gtk.h>
#include <gdk/gdkwayland.h>
#include <gdk/gdkx.h>
#include <gtk-layer-shell/gtk-layer-shell.h>
#include <X11/extensions/XShm.h>
#include <X11/Xutil.h>
#include <sys/eventfd.h>
#include <sys/shm.h>

// Exported by libdispatch for CFRunLoop, declared in no public header.
/// An eventfd that can be read when the main queue has work. To be called on the main thread.
extern int _dispatch_get_main_queue_handle_4CF(void);
/// Does the main queue's work. To be called on the main thread.
extern void _dispatch_main_queue_callback_4CF(void *unused);

// The type checks are macros with statements in them, which Swift does not import.
static inline gboolean pipsink_is_x11_display(GdkDisplay *display) { return GDK_IS_X11_DISPLAY(display); }
static inline gboolean pipsink_is_wayland_display(GdkDisplay *display) { return GDK_IS_WAYLAND_DISPLAY(display); }

/// The file descriptor of the connection to the display server; -1 when it is of neither kind.
static inline int pipsink_display_descriptor(GdkDisplay *display) {
  if (GDK_IS_X11_DISPLAY(display)) return ConnectionNumber(GDK_DISPLAY_XDISPLAY(display));
  if (GDK_IS_WAYLAND_DISPLAY(display)) return wl_display_get_fd(gdk_wayland_display_get_wl_display(display));
  return -1;
}

#endif
