// A GTK 3 program on Wayland. It gives a pipsink its own connection and the surface of its window, as it would give
// them to waylandsink. It takes the surface back before it destroys it. With the argument "early" it says only once
// where the picture is, before the element knows the surface.
// The program prints "done" at the end, when the window has been closed.
#include <gdk/gdkwayland.h>
#include <gst/video/videooverlay.h>
#include <gtk/gtk.h>
#include <stdio.h>
#include <string.h>

static GtkWidget *window;
static GstElement *pipeline, *sink;

static GstBusSyncReply answer(GstBus *bus, GstMessage *message, gpointer data) {
  (void)bus;
  const gchar *type = NULL;
  struct wl_display *display = gdk_wayland_display_get_wl_display(gtk_widget_get_display(window));
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_NEED_CONTEXT) return GST_BUS_PASS;
  gst_message_parse_context_type(message, &type);
  if (strcmp(type, data)) return GST_BUS_PASS;
  GstContext *context = gst_context_new(type, TRUE);
  gst_structure_set(gst_context_writable_structure(context), "display", G_TYPE_POINTER, display, NULL);
  gst_element_set_context(GST_ELEMENT(GST_MESSAGE_SRC(message)), context);
  gst_context_unref(context);
  gst_message_unref(message);
  return GST_BUS_DROP;
}

// The picture is in the middle of the window. GTK commits the surface when it draws next.
static void place(GtkWidget *widget, GtkAllocation *area, gpointer data) {
  (void)data;
  gst_video_overlay_set_render_rectangle(
    GST_VIDEO_OVERLAY(sink), area->width / 4, area->height / 4, area->width / 2, area->height / 2);
  gtk_widget_queue_draw(widget);
}

static gboolean draw_again(gpointer data) {
  gtk_widget_queue_draw(data);
  return G_SOURCE_CONTINUE;
}

static guint timer;

static gboolean stop(GtkWidget *widget, GdkEvent *event, gpointer data) {
  (void)event;
  (void)data;
  g_source_remove(timer);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gtk_widget_destroy(widget);
  gtk_main_quit();
  return TRUE;
}

int main(int argc, char **argv) {
  if (argc < 2) return 64;
  gst_init(&argc, &argv);
  gtk_init(&argc, &argv);
  window = gtk_window_new(GTK_WINDOW_TOPLEVEL);
  gtk_window_set_title(GTK_WINDOW(window), "Host");
  gtk_window_set_decorated(GTK_WINDOW(window), FALSE);
  pipeline = gst_parse_launch("videotestsrc pattern=red is-live=true ! pipsink name=sink", NULL);
  sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GstBus *bus = gst_element_get_bus(pipeline);
  gst_bus_set_sync_handler(bus, answer, argv[1], NULL);
  if (argc == 2) {
    g_signal_connect(window, "size-allocate", G_CALLBACK(place), NULL);
  } else {
    gst_video_overlay_set_render_rectangle(GST_VIDEO_OVERLAY(sink), 256, 192, 512, 384);
  }
  g_signal_connect(window, "delete-event", G_CALLBACK(stop), NULL);
  gtk_widget_show(window);
  struct wl_surface *surface = gdk_wayland_window_get_wl_surface(gtk_widget_get_window(window));
  gst_video_overlay_set_window_handle(GST_VIDEO_OVERLAY(sink), (guintptr)surface);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  timer = g_timeout_add(50, draw_again, window);
  gtk_main();
  gst_object_unref(bus);
  gst_object_unref(sink);
  gst_object_unref(pipeline);
  puts("done");
  return 0;
}
