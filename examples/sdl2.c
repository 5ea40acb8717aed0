// A call in an SDL 2 window, on X11 and on Wayland: p starts and stops picture-in-picture, m switches the sound and c
// the camera. cc sdl2.c $(pkg-config --cflags --libs gstreamer-video-1.0 sdl2)
#include <SDL2/SDL.h>
#include <SDL2/SDL_syswm.h>
#include <gst/video/videooverlay.h>

static SDL_Window *window;

// Shows a stream in one half of the window. On Wayland, SDL and the element have sizes in the desktop's units.
static void show(GstElement *stream, int half) {
  int width, height;
  SDL_SysWMinfo info;
  SDL_VERSION(&info.version);
  SDL_GetWindowWMInfo(window, &info);
  SDL_GetWindowSize(window, &width, &height);
  guintptr handle = 0;
  if (info.subsystem == SDL_SYSWM_X11) handle = info.info.x11.window;
  if (info.subsystem == SDL_SYSWM_WAYLAND) {
    handle = (guintptr)info.info.wl.surface;
    g_object_set(stream, "wayland-display", (guint64)(guintptr)info.info.wl.display, NULL);
  }
  gst_video_overlay_set_window_handle(GST_VIDEO_OVERLAY(stream), handle);
  gst_video_overlay_set_render_rectangle(GST_VIDEO_OVERLAY(stream), half * width / 2, 0, width / 2, height);
}

static void toggle(GstElement *stream, const char *property) {
  gboolean is_set;
  g_object_get(stream, property, &is_set, NULL);
  g_object_set(stream, property, !is_set, NULL);
}

int main(int argc, char **argv) {
  gst_init(&argc, &argv);
  if (SDL_Init(SDL_INIT_VIDEO)) return 69;
  window = SDL_CreateWindow("Call", SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED, 800, 400, SDL_WINDOW_RESIZABLE);
  SDL_GetWindowSurface(window);  // This may replace the window's wl_surface, so the elements get theirs afterwards.
  GstElement *call = gst_parse_launch(
      "videotestsrc is-live=true ! video/x-raw,width=1280,height=720 ! pipsink name=anna "
      "videotestsrc is-live=true pattern=ball ! pipsink name=ben "
      "audiotestsrc is-live=true ! volume name=sound ! audioconvert ! autoaudiosink", NULL);
  GstElement *anna = gst_bin_get_by_name(GST_BIN(call), "anna"), *ben = gst_bin_get_by_name(GST_BIN(call), "ben");
  g_object_bind_property(anna, "muted", gst_bin_get_by_name(GST_BIN(call), "sound"), "mute", G_BINDING_DEFAULT);
  GstBus *bus = gst_element_get_bus(call);
  show(anna, 0), show(ben, 1);
  gst_element_set_state(call, GST_STATE_PLAYING);
  for (SDL_Event event = {0}; event.type != SDL_QUIT; SDL_WaitEventTimeout(&event, 20)) {
    if (event.type == SDL_WINDOWEVENT) show(anna, 0), show(ben, 1);
    if (event.type == SDL_KEYDOWN && event.key.keysym.sym == SDLK_p) g_signal_emit_by_name(anna, "toggle-pip");
    if (event.type == SDL_KEYDOWN && event.key.keysym.sym == SDLK_m) toggle(anna, "muted");
    if (event.type == SDL_KEYDOWN && event.key.keysym.sym == SDLK_c) toggle(anna, "camera-off");
    event.type = 0;
    GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT);
    if (message == NULL) continue;
    // On Wayland a change of the pictures' places takes effect when the window is drawn.
    if (gst_message_has_name(message, "draw-window")) SDL_GetWindowSurface(window), SDL_UpdateWindowSurface(window);
    if (gst_message_has_name(message, "restore-user-interface")) SDL_RaiseWindow(window);
    gst_message_unref(message);
  }
  return gst_element_set_state(call, GST_STATE_NULL) == GST_STATE_CHANGE_FAILURE;
}
