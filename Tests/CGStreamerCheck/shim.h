// GStreamer's harness for trying out single elements.
#ifndef PIPSINK_CGSTREAMERCHECK_SHIM_H
#define PIPSINK_CGSTREAMERCHECK_SHIM_H

#include <gst/check/gstharness.h>
#include <gst/check/gsttestclock.h>

#endif
