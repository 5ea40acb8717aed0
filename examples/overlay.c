// An X11 program with a window of its own that shows a stream in it by GstVideoOverlay; the space bar starts and stops
// picture-in-picture. cc overlay.c $(pkg-config --cflags --libs gstreamer-video-1.0 x11)
#include <X11/Xlib.h>
#include <X11/keysym.h>
#include <X11/Xutil.h>
#include <gst/gst.h>
#include <gst/video/videooverlay.h>
#include <stdio.h>

static GstElement *pipeline, *sink;
static Window window;

// Called where the element asks for a window, before it opens one of its own.
static GstBusSyncReply give_window(GstBus *bus, GstMessage *message, gpointer data) {
  if (!gst_is_video_overlay_prepare_window_handle_message(message)) return GST_BUS_PASS;
  gst_video_overlay_set_window_handle(GST_VIDEO_OVERLAY(GST_MESSAGE_SRC(message)), window);
  gst_message_unref(message);
  return GST_BUS_DROP;
}

// Returns whether the program goes on.
static gboolean handle_message(GstMessage *message) {
  const GstStructure *structure;
  GError *error = NULL;
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_EOS:
      return FALSE;
    case GST_MESSAGE_ERROR:
      gst_message_parse_error(message, &error, NULL);
      fprintf(stderr, "%s\n", error->message);
      g_error_free(error);
      return FALSE;
    case GST_MESSAGE_ELEMENT:
      structure = gst_message_get_structure(message);
      if (gst_structure_has_name(structure, "pip-did-start")) puts("In picture-in-picture");
      if (gst_structure_has_name(structure, "pip-did-stop")) puts("In the window");
      fflush(stdout);
      return TRUE;
    default:
      return TRUE;
  }
}

static gboolean handle_event(XEvent *event, Atom delete_window) {
  if (event->type == ClientMessage && (Atom)event->xclient.data.l[0] == delete_window) return FALSE;
  if (event->type == KeyPress && XLookupKeysym(&event->xkey, 0) == XK_space) g_signal_emit_by_name(sink, "toggle-pip");
  return TRUE;
}

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  Display *display = XOpenDisplay(NULL);
  if (!display) {
    fprintf(stderr, "There is no X server.\n");
    return 1;
  }
  window = XCreateSimpleWindow(display, DefaultRootWindow(display), 0, 0, 640, 360, 0, 0, 0);
  XStoreName(display, window, "Overlay");
  XSelectInput(display, window, KeyPressMask | StructureNotifyMask);
  Atom delete_window = XInternAtom(display, "WM_DELETE_WINDOW", False);
  XSetWMProtocols(display, window, &delete_window, 1);
  XMapWindow(display, window);
  XFlush(display);

  GError *error = NULL;
  pipeline = gst_parse_launch("videotestsrc ! pipsink name=sink stream-id=camera", &error);
  if (!pipeline) {
    fprintf(stderr, "%s\n", error->message);
    return 1;
  }
  sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GstBus *bus = gst_element_get_bus(pipeline);
  gst_bus_set_sync_handler(bus, give_window, NULL, NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);

  // No GLib main loop: PipSink's window works all the same.
  for (gboolean goes_on = TRUE; goes_on;) {
    GstMessage *message = gst_bus_timed_pop(bus, 20 * GST_MSECOND);
    if (message) {
      goes_on = handle_message(message);
      gst_message_unref(message);
    }
    while (goes_on && XPending(display)) {
      XEvent event;
      XNextEvent(display, &event);
      goes_on = handle_event(&event, delete_window);
    }
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(sink);
  gst_object_unref(pipeline);
  XCloseDisplay(display);
  return 0;
}
