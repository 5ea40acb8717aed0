// GTK 3 with its X11 and Wayland parts, gtk-layer-shell, and libdispatch's way into a foreign main loop.
#ifndef PIPSINK_CGTK_SHIM_H
#define PIPSINK_CGTK_SHIM_H

#include <glib-unix.h>
#include <gtk/gtk.h>
#include <gdk/gdkwayland.h>
#include <gdk/gdkx.h>
#include <gtk-layer-shell/gtk-layer-shell.h>
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

// Swift passes copies of constants, and libwayland keeps the address.
static inline struct wl_shm *pipsink_bind_shm(struct wl_registry *registry, uint32_t name) {
  return wl_registry_bind(registry, name, &wl_shm_interface, 1);
}
static inline struct wl_subcompositor *pipsink_bind_subcompositor(struct wl_registry *registry, uint32_t name) {
  return wl_registry_bind(registry, name, &wl_subcompositor_interface, 1);
}

// xdg-activation-v1, by which a program asks to be shown. As its description has it: the names of requests and events, and
// the types of their arguments. libwayland keeps the tables' addresses.
static inline const struct wl_interface *pipsink_activation_token_interface(void) {
  static const struct wl_interface *types[] = {NULL, &wl_seat_interface, &wl_surface_interface};
  static const struct wl_message requests[] = {
      {"set_serial", "uo", types}, {"set_app_id", "s", types}, {"set_surface", "o", types + 2}, {"commit", "", types},
      {"destroy", "", types}};
  static const struct wl_message events[] = {{"done", "s", types}};
  static const struct wl_interface interface = {"xdg_activation_token_v1", 1, 5, requests, 1, events};
  return &interface;
}
static inline const struct wl_interface *pipsink_activation_interface(void) {
  static const struct wl_interface *types[3];
  static const struct wl_message requests[] = {
      {"destroy", "", types}, {"get_activation_token", "n", types}, {"activate", "so", types + 1}};
  static const struct wl_interface interface = {"xdg_activation_v1", 1, 3, requests, 0, NULL};
  types[0] = pipsink_activation_token_interface();
  types[2] = &wl_surface_interface;
  return &interface;
}
static inline struct wl_proxy *pipsink_bind_activation(struct wl_registry *registry, uint32_t name) {
  return wl_registry_bind(registry, name, pipsink_activation_interface(), 1);
}
/// Asks for a token of what the user has just done, as `serial` says, on a surface that the pointer is on.
static inline struct wl_proxy *pipsink_request_activation(struct wl_proxy *activation, uint32_t serial,
                                                          struct wl_seat *seat, struct wl_surface *surface) {
  struct wl_proxy *token =
      wl_proxy_marshal_flags(activation, 1, pipsink_activation_token_interface(), 1, 0, NULL);
  if (token == NULL) return NULL;
  wl_proxy_marshal_flags(token, 0, NULL, 1, 0, serial, seat);
  wl_proxy_marshal_flags(token, 2, NULL, 1, 0, surface);
  wl_proxy_marshal_flags(token, 3, NULL, 1, 0);
  return token;
}
static inline void pipsink_destroy_activation_token(struct wl_proxy *token) {
  wl_proxy_marshal_flags(token, 4, NULL, 1, WL_MARSHAL_FLAG_DESTROY);
}
/// Shows a surface's window with a token.
static inline void pipsink_activate(struct wl_proxy *activation, const char *token, struct wl_surface *surface) {
  wl_proxy_marshal_flags(activation, 2, NULL, 1, 0, token, surface);
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
