// GStreamer's headers, those of gettext, and the few things in them that Swift cannot
// import: cast macros and variadic functions.
#ifndef PIPSINK_CGSTREAMER_SHIM_H
#define PIPSINK_CGSTREAMER_SHIM_H

#include <gst/gst.h>
#include <gst/allocators/gstdmabuf.h>
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/base/gsttypefindhelper.h>
#include <gst/pbutils/missing-plugins.h>
#include <gst/video/colorbalance.h>
#include <gst/video/video.h>
#include <libintl.h>

/// GST_CLOCK_TIME_NONE is a cast in a macro, which Swift does not import.
static const GstClockTime PIPSINK_CLOCK_TIME_NONE = GST_CLOCK_TIME_NONE;

// GLib's names for its fundamental types are such casts, too.
static const GType PIPSINK_TYPE_NONE = G_TYPE_NONE;
static const GType PIPSINK_TYPE_BOOLEAN = G_TYPE_BOOLEAN;
static const GType PIPSINK_TYPE_DOUBLE = G_TYPE_DOUBLE;
static const GType PIPSINK_TYPE_INT = G_TYPE_INT;
static const GType PIPSINK_TYPE_UINT = G_TYPE_UINT;
static const GType PIPSINK_TYPE_UINT64 = G_TYPE_UINT64;
static const GType PIPSINK_TYPE_STRING = G_TYPE_STRING;
static const GType PIPSINK_TYPE_POINTER = G_TYPE_POINTER;
static const GType PIPSINK_TYPE_OBJECT = G_TYPE_OBJECT;

/// The name of an object as GStreamer's log has it: "<name>", or "<element:pad>" for a pad. The caller frees it with
/// g_free().
static inline gchar *pipsink_object_description(GObject *object) {
  return gst_info_strdup_printf("%" GST_PTR_FORMAT, (void *)object);
}

#endif
