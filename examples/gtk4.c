// A call in a GTK 4 window: two streams in GtkPictures, and buttons for picture-in-picture, sound and camera.
// cc gtk4.c $(pkg-config --cflags --libs gtk4 gstreamer-1.0)
#include <gst/gst.h>
#include <gtk/gtk.h>

static GstElement *call, *anna, *ben, *sound;

static void toggle_pip(GtkButton *button, gpointer data) { g_signal_emit_by_name(anna, "toggle-pip"); }

// Presents the window when the user goes back to the app from picture-in-picture.
static void go_back(GstBus *bus, GstMessage *message, GtkWindow *window) {
  if (gst_message_has_name(message, "restore-user-interface")) gtk_window_present(window);
}

static void attach_picture(GtkGrid *grid, GstElement *stream, int column) {
  GdkPaintable *paintable;
  g_object_get(stream, "paintable", &paintable, NULL);
  GtkWidget *picture = gtk_picture_new_for_paintable(paintable);
  g_object_unref(paintable);
  gtk_widget_set_vexpand(picture, TRUE);
  gtk_grid_attach(grid, picture, column, 0, 3, 1);
}

static void open_call(GtkApplication *application, gpointer data) {
  GtkWidget *window = gtk_application_window_new(application), *grid = gtk_grid_new();
  GtkWidget *pip = gtk_button_new_with_label("Picture in picture"), *mute = gtk_toggle_button_new_with_label("Mute");
  GtkWidget *camera = gtk_toggle_button_new_with_label("Camera off"), *buttons[] = {pip, mute, camera};
  gtk_window_set_title(GTK_WINDOW(window), "Call");
  gtk_window_set_default_size(GTK_WINDOW(window), 800, 400);
  gtk_window_set_child(GTK_WINDOW(window), grid);
  gtk_grid_set_column_homogeneous(GTK_GRID(grid), TRUE);
  attach_picture(GTK_GRID(grid), anna, 0);
  attach_picture(GTK_GRID(grid), ben, 3);
  for (int index = 0; index < 3; index++) gtk_grid_attach(GTK_GRID(grid), buttons[index], 2 * index, 1, 2, 1);
  g_signal_connect(pip, "clicked", G_CALLBACK(toggle_pip), NULL);
  g_object_bind_property(anna, "muted", sound, "mute", G_BINDING_DEFAULT);
  g_object_bind_property(mute, "active", anna, "muted", G_BINDING_DEFAULT);
  g_object_bind_property(camera, "active", anna, "camera-off", G_BINDING_DEFAULT);
  GstBus *bus = gst_element_get_bus(call);
  gst_bus_add_signal_watch(bus);
  g_signal_connect_object(bus, "message::element", G_CALLBACK(go_back), window, 0);
  gtk_window_present(GTK_WINDOW(window));
  gst_element_set_state(call, GST_STATE_PLAYING);
}

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  call = gst_parse_launch("videotestsrc is-live=true ! video/x-raw,width=1280,height=720 ! pipsink name=anna "
    "videotestsrc is-live=true pattern=ball ! video/x-raw,width=1280,height=720 ! pipsink name=ben "
    "audiotestsrc is-live=true ! volume name=sound ! audioconvert ! autoaudiosink", NULL);
  anna = gst_bin_get_by_name(GST_BIN(call), "anna"), ben = gst_bin_get_by_name(GST_BIN(call), "ben");
  sound = gst_bin_get_by_name(GST_BIN(call), "sound");
  GtkApplication *application = gtk_application_new("org.pipsink.Call", 0);
  g_signal_connect(application, "activate", G_CALLBACK(open_call), NULL);
  int status = g_application_run(G_APPLICATION(application), argc, argv);
  gst_element_set_state(call, GST_STATE_NULL);
  return status;
}
