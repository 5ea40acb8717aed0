// A call in PipSink's window, in a program without a toolkit and without a main loop, on X11 and on Wayland. p, or the
// button over a stream, starts and stops picture-in-picture; m switches the sound and c the camera.
//
// cc plain.c $(pkg-config --cflags --libs gstreamer-video-1.0)
#include <gst/video/navigation.h>
#include <stdio.h>

static void toggle(GstElement *stream, const char *property) {
  gboolean is_set;
  g_object_get(stream, property, &is_set, NULL);
  g_object_set(stream, property, !is_set, NULL);
}

// Handles the keys that PipSink's windows do not handle themselves. Both streams post a message for each of them.
static void press(GstElement *stream, GstMessage *message) {
  GstEvent *event = NULL;
  const gchar *key;
  if (GST_MESSAGE_SRC(message) != GST_OBJECT(stream)) return;
  if (!gst_navigation_message_parse_event(message, &event)) return;
  if (gst_navigation_event_get_type(event) == GST_NAVIGATION_EVENT_KEY_PRESS) {
    gst_navigation_event_parse_key_event(event, &key);
    if (g_str_equal(key, "m")) toggle(stream, "muted");
    if (g_str_equal(key, "c")) toggle(stream, "camera-off");
  }
  gst_event_unref(event);
}

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  GError *error = NULL;
  GstElement *call = gst_parse_launch(
      "videotestsrc is-live=true ! video/x-raw,width=1280,height=720 ! pipsink name=anna "
      "videotestsrc is-live=true pattern=ball ! pipsink name=ben "
      "audiotestsrc is-live=true ! volume name=sound ! audioconvert ! autoaudiosink", &error);
  GstElement *anna = gst_bin_get_by_name(GST_BIN(call), "anna"), *sound = gst_bin_get_by_name(GST_BIN(call), "sound");
  g_object_bind_property(anna, "muted", sound, "mute", G_BINDING_DEFAULT);
  GstBus *bus = gst_element_get_bus(call);
  gst_element_set_state(call, GST_STATE_PLAYING);
  for (GstMessage *message = NULL; !error; gst_message_unref(message)) {
    message = gst_bus_timed_pop(bus, GST_CLOCK_TIME_NONE);
    // Closing the window is an error message, too.
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) gst_message_parse_error(message, &error, NULL);
    if (gst_navigation_message_get_type(message) == GST_NAVIGATION_MESSAGE_EVENT) press(anna, message);
  }
  puts(error->message);
  gst_element_set_state(call, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(sound);
  gst_object_unref(anna);
  gst_object_unref(call);
  g_error_free(error);
  return 0;
}
