// GIO, for D-Bus.
#ifndef PIPSINK_CGIO_SHIM_H
#define PIPSINK_CGIO_SHIM_H

#include <gio/gio.h>

#endif
