// GIO, for D-Bus and GNOME's settings.
#ifndef PIPSINK_CGIO_SHIM_H
#define PIPSINK_CGIO_SHIM_H

#include <gio/gio.h>

#endif
