// GTK 3 with its X11 and Wayland parts.
#ifndef PIPSINK_CGTK_SHIM_H
#define PIPSINK_CGTK_SHIM_H

#include <gdk/gdkwayland.h>
#include <gdk/gdkx.h>
#include <gtk/gtk.h>

// The type check is a macro with statements in it, which Swift does not import.
static inline gboolean pipsink_is_wayland_display(GdkDisplay *display) { return GDK_IS_WAYLAND_DISPLAY(display); }

#endif
