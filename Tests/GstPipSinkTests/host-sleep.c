// A program without any main loop. It plays a stream in picture-in-picture and sleeps until the user closes the window.
// The program prints "done" at the end.
#include <gst/gst.h>
#include <stdio.h>
#include <unistd.h>

static void note_stop(GstElement *sink, const char *reason, gint *is_over) {
  (void)sink;
  (void)reason;
  g_atomic_int_set(is_over, 1);
}

int main(int argc, char **argv) {
  gint is_over = 0;
  gst_init(&argc, &argv);
  GstElement *pipeline = gst_parse_launch("videotestsrc pattern=red ! pipsink name=sink stream-id=a mode=pip", NULL);
  GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_signal_connect(sink, "pip-did-stop", G_CALLBACK(note_stop), &is_over);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  while (!g_atomic_int_get(&is_over)) sleep(1);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(sink);
  gst_object_unref(pipeline);
  puts("done");
  return 0;
}
