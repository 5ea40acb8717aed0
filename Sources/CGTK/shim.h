// GTK 3 with its X11 and Wayland parts, gtk-layer-shell, and libdispatch's way into a foreign main loop.
#ifndef PIPSINK_CGTK_SHIM_H
#define PIPSINK_CGTK_SHIM_H

#include <glib-unix.h>
#include <gtk/gtk.h>
#include <gdk/gdkwayland.h>
#include <gdk/gdkx.h>
#include <gtk-layer-shell/gtk-layer-shell.h>
#include <xcb/shm.h>
#include <xcb/xcb.h>
#include <sys/eventfd.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wayland-client.h>

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

// The extension's name is a variable, which Swift takes for one that threads may change at once.
/// What an X server says of MIT-SHM. XCB owns it.
static inline const xcb_query_extension_reply_t *pipsink_shared_memory_extension(xcb_connection_t *connection) {
  return xcb_get_extension_data(connection, &xcb_shm_id);
}

// Swift passes copies of constants, and libwayland keeps the address.
static inline struct wl_shm *pipsink_bind_shm(struct wl_registry *registry, uint32_t name) {
  return wl_registry_bind(registry, name, &wl_shm_interface, 1);
}
static inline struct wl_subcompositor *pipsink_bind_subcompositor(struct wl_registry *registry, uint32_t name) {
  return wl_registry_bind(registry, name, &wl_subcompositor_interface, 1);
}
/// Anonymous memory that can be given to another process.
static inline int pipsink_make_memory(const char *name, size_t size) {
  int descriptor = (int)syscall(SYS_memfd_create, name, MFD_CLOEXEC);
  // Allocated now: memory that turned out not to be there later would end the program where it draws.
  if (descriptor >= 0 && posix_fallocate(descriptor, 0, (off_t)size) != 0) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

/// Whether a child of a GtkOverlay is drawn below another child of it; of other containers it is not known.
static inline gboolean pipsink_is_below(GtkWidget *parent, GtkWidget *child, GtkWidget *other) {
  if (!GTK_IS_OVERLAY(parent)) return FALSE;
  if (gtk_bin_get_child(GTK_BIN(parent)) == child) return TRUE;
  if (gtk_bin_get_child(GTK_BIN(parent)) == other) return FALSE;
  GList *children = gtk_container_get_children(GTK_CONTAINER(parent));
  gboolean below = g_list_index(children, child) < g_list_index(children, other);
  g_list_free(children);
  return below;
}

#endif
