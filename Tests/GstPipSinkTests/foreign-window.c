// An X11 program that gives a pipsink its windows and takes them back. Any X error ends it.
//   foreign-window null TRIES    sets the pipeline to NULL while picture-in-picture is open, and destroys the window at
//                                once
//   foreign-window handle TRIES  takes the window back while the stream plays, destroys it, and gives another one
//   foreign-window closed TRIES  closes the picture-in-picture window as its user does, once with a window of the program
//                                from the beginning and once with one that comes afterwards, and waits for the picture
//   foreign-window frozen PID    stops the X server with that process ID while the stream plays, and measures how long
//                                the change to NULL takes
// The program prints "done" at the end. Exit status 1 means a failure, such as an X error, and 2 means
// that no frame or picture came in time.
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <gst/gst.h>
#include <gst/video/videooverlay.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Display *display;
static GstElement *pipeline, *sink;

// The window is beside the one that PipSink opens for streams without a window of the application, because the element
// does not draw in a covered window.
static Window make_window(void) {
  Window window = XCreateSimpleWindow(display, DefaultRootWindow(display), 960, 560, 320, 180, 0, 0, 0);
  XMapWindow(display, window);
  XSync(display, False);
  return window;
}

// The number of the element's frames of a kind: "in-app" or "pip".
static guint64 count(const char *name) {
  GstStructure *statistics = NULL;
  guint64 frames = 0;
  g_object_get(sink, "stats", &statistics, NULL);
  gst_structure_get_uint64(statistics, name, &frames);
  gst_structure_free(statistics);
  return frames;
}

// Waits until `more` further frames have been shown there.
static void wait_for_frames(const char *name, guint64 more) {
  guint64 target = count(name) + more;
  for (int tries = 0; count(name) < target; tries++) {
    if (tries == 15000) {
      fprintf(stderr, "no %s frames\n", name);
      exit(2);
    }
    g_usleep(2000);
  }
}

// Waits until the window shows a picture, or the text that stands for it. The first bar of the test pattern is light,
// and the text is on dark grey.
static void wait_for(gboolean is_picture, Window window) {
  for (int tries = 0;; tries++) {
    XImage *image = XGetImage(display, window, 4, 4, 1, 1, AllPlanes, ZPixmap);
    unsigned long pixel = XGetPixel(image, 0, 0);
    XDestroyImage(image);
    if (is_picture ? pixel & 0x808080 : (pixel & 0xf0f0f0) == 0x101010) return;
    if (tries == 15000) {
      fprintf(stderr, is_picture ? "no picture\n" : "no text\n");
      exit(2);
    }
    g_usleep(2000);
  }
}

static void wait_for_picture(Window window) {
  wait_for(TRUE, window);
}

static void start(Window window, gboolean is_in_pip) {
  pipeline = gst_parse_launch(
    "videotestsrc is-live=true ! video/x-raw,width=320,height=180,framerate=120/1 ! pipsink name=sink sync=false", NULL);
  sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  gst_video_overlay_set_window_handle(GST_VIDEO_OVERLAY(sink), window);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  wait_for_picture(window);
  if (!is_in_pip) return;
  g_signal_emit_by_name(sink, "start-pip");
  wait_for_frames("pip", 2);
}

static void stop(void) {
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

static void forget(void) {
  gst_object_unref(sink);
  gst_object_unref(pipeline);
}

// The host destroys the window on its own connection at once. Any later request for the window would be an X error.
static void destroy(Window window) {
  XDestroyWindow(display, window);
  XSync(display, False);
}

// Asks the picture-in-picture window to close, as a window manager does for its user, and waits until that has happened.
static void close_picture_in_picture(void) {
  Window root, parent, *children;
  unsigned int number;
  XQueryTree(display, DefaultRootWindow(display), &root, &parent, &children, &number);
  Atom delete_window = XInternAtom(display, "WM_DELETE_WINDOW", False);
  for (unsigned int i = 0; i < number; i++) {
    XTextProperty name;
    if (!XGetTextProperty(display, children[i], &name, XInternAtom(display, "_NET_WM_NAME", False))) continue;
    XEvent event = {.xclient = {.type = ClientMessage, .window = children[i], .format = 32}};
    event.xclient.message_type = XInternAtom(display, "WM_PROTOCOLS", False);
    event.xclient.data.l[0] = (long)delete_window;
    gboolean is_picture_in_picture = g_str_has_prefix((const char *)name.value, "Picture-in-Picture");
    if (is_picture_in_picture) XSendEvent(display, children[i], False, 0, &event);
    XFree(name.value);
  }
  XFree(children);
  XSync(display, False);
  GstBus *bus = gst_element_get_bus(pipeline);
  for (gboolean has_stopped = FALSE; !has_stopped;) {
    GstMessage *message = gst_bus_timed_pop_filtered(bus, 30 * GST_SECOND, GST_MESSAGE_ELEMENT);
    if (!message) {
      fprintf(stderr, "picture-in-picture has not stopped\n");
      exit(2);
    }
    has_stopped = gst_message_has_name(message, "pip-did-stop");
    gst_message_unref(message);
  }
  gst_object_unref(bus);
}

int main(int argc, char **argv) {
  if (argc != 3) return 64;
  gst_init(&argc, &argv);
  display = XOpenDisplay(NULL);
  if (!display) return 69;
  int tries = atoi(argv[2]);
  // Xlib's default handlers are active: any X error that Xlib reports in this process ends it.
  if (!strcmp(argv[1], "null")) {
    for (int i = 0; i < tries; i++) {
      Window window = make_window();
      // When the element stops, the stream may return to the window.
      start(window, TRUE);
      XSetErrorHandler(NULL);
      g_usleep(g_random_int_range(0, 12000));
      stop();
      destroy(window);
      forget();
    }
  } else if (!strcmp(argv[1], "handle")) {
    Window window = make_window();
    start(window, FALSE);
    for (int i = 0; i < tries; i++) {
      XSetErrorHandler(NULL);
      g_usleep(g_random_int_range(0, 12000));
      gst_video_overlay_set_window_handle(GST_VIDEO_OVERLAY(sink), 0);
      destroy(window);
      window = make_window();
      gst_video_overlay_set_window_handle(GST_VIDEO_OVERLAY(sink), window);
      if (i % 4 == 3) wait_for_picture(window);
    }
    stop();
    destroy(window);
    forget();
  } else if (!strcmp(argv[1], "closed")) {
    for (int i = 0; i < tries; i++) {
      Window window = make_window();
      start(window, TRUE);
      wait_for(FALSE, window);
      close_picture_in_picture();
      wait_for_picture(window);
      g_signal_emit_by_name(sink, "start-pip");
      wait_for_frames("pip", 2);
      gst_video_overlay_set_window_handle(GST_VIDEO_OVERLAY(sink), 0);
      destroy(window);
      close_picture_in_picture();
      window = make_window();
      gst_video_overlay_set_window_handle(GST_VIDEO_OVERLAY(sink), window);
      wait_for_picture(window);
      stop();
      destroy(window);
      forget();
    }
  } else {
    Window window = make_window();
    start(window, FALSE);
    kill((pid_t)atoi(argv[2]), SIGSTOP);
    g_usleep(200000);
    gint64 begin = g_get_monotonic_time();
    stop();
    gint64 microseconds = g_get_monotonic_time() - begin;
    kill((pid_t)atoi(argv[2]), SIGCONT);
    printf("stopped after %d ms\n", (int)(microseconds / 1000));
    destroy(window);
    forget();
  }
  puts("done");
  return 0;
}
