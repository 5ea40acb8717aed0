// A call whose SDK gives raw frames in callbacks: each participant has a pipeline "appsrc ! pipsink" of its own.
// cc sdk.c $(pkg-config --cflags --libs gstreamer-app-1.0)
#include <gst/app/gstappsrc.h>
// What an app does with the SDK's callbacks, which come on the SDK's threads.
static GstElement *participant_joined(const char *name, int width, int height) {
  g_autofree gchar *text = g_strdup_printf(
      "appsrc name=source is-live=true format=time do-timestamp=true max-buffers=2 leaky-type=downstream "
      "caps=video/x-raw,format=I420,width=%d,height=%d,framerate=0/1 ! queue max-size-buffers=2 ! pipsink name=video",
      width, height);
  GstElement *pipeline = gst_parse_launch(text, NULL);
  gst_child_proxy_set(GST_CHILD_PROXY(pipeline), "video::stream-id", name, NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_print("%s has joined\n", name);
  return pipeline;
}

static void frame_received(GstElement *pipeline, const guint8 *planes, gsize size) {
  GstElement *source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
  gst_app_src_push_buffer(GST_APP_SRC(source), gst_buffer_new_memdup(planes, size));
  gst_object_unref(source);
}

static void camera_switched(GstElement *pipeline, gboolean is_on) {
  gst_child_proxy_set(GST_CHILD_PROXY(pipeline), "video::camera-off", !is_on, NULL);
}

static void participant_left(GstElement *pipeline) {
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

enum { width = 320, height = 180, size = width * height * 3 / 2 };
struct participant { GstElement *pipeline; int luma, frames; };

// Stands for the SDK: somebody who moves. Whoever leaves switches the camera off and on again before.
static gpointer run(gpointer data) {
  struct participant *who = data;
  g_autofree guint8 *planes = g_malloc(size);
  memset(planes, 128, size);
  for (int i = 0; i < g_atomic_int_get(&who->frames); i++) {
    if (g_atomic_int_get(&who->frames) == 120 && (i == 30 || i == 90)) camera_switched(who->pipeline, i == 90);
    memset(planes, who->luma + i % 20, width * height);
    frame_received(who->pipeline, planes, size);
    g_usleep(G_USEC_PER_SEC / 30);
  }
  participant_left(who->pipeline);
  return NULL;
}

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  struct participant anna = {participant_joined("anna", width, height), 180, 30 * 3600};
  struct participant ben = {participant_joined("ben", width, height), 60, 120};
  g_autoptr(GstBus) bus = gst_element_get_bus(anna.pipeline);
  GThread *threads[] = {g_thread_new("sdk", run, &anna), g_thread_new("sdk", run, &ben)};
  // Closing the window is an error message, too.
  gst_message_unref(gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR));
  for (int i = 0; i < 2; i++) g_atomic_int_set(i ? &ben.frames : &anna.frames, 0);
  for (int i = 0; i < 2; i++) g_thread_join(threads[i]);
}
