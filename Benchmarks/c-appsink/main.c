// The program that `pipsink-bench route` compares PipSink with: the least that a C program does with the frames of
// an appsink. It pulls each frame, maps it, unmaps it and releases it. That happens in the appsink's callback, on the
// streaming thread, or with --loop as most programs do it: in a loop on one thread for each appsink. The argument is a
// pipeline whose appsinks have the names s0, s1 and so on. The program runs it to its end, and prints the time and
// memory that this took.
//
//   c-appsink [--loop] "fakesrc num-buffers=100000 sizetype=fixed sizemax=3110400 filltype=nothing ! appsink name=s0 sync=false"

#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// This function is in liballocations.so, if that was loaded before the C library.
extern guint64 pipsink_total_allocation_count(void) __attribute__((weak));

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static long resident_bytes(void) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL) return 0;
  if (fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

static guint64 allocations(void) { return pipsink_total_allocation_count ? pipsink_total_allocation_count() : 0; }

static GstFlowReturn take_sample(GstAppSink *sink, gpointer context) {
  (void)context;
  GstSample *sample = gst_app_sink_pull_sample(sink);
  if (sample == NULL) return GST_FLOW_EOS;
  GstBuffer *buffer = gst_sample_get_buffer(sample);
  GstMapInfo map;
  if (!gst_buffer_map(buffer, &map, GST_MAP_READ)) {
    gst_sample_unref(sample);
    return GST_FLOW_ERROR;
  }
  gst_buffer_unmap(buffer, &map);
  gst_sample_unref(sample);
  return GST_FLOW_OK;
}

static gpointer take_samples(gpointer sink) {
  while (take_sample(sink, NULL) == GST_FLOW_OK) continue;
  return NULL;
}

int main(int count, char **arguments) {
  gboolean loops = count > 1 && strcmp(arguments[1], "--loop") == 0;
  if (count != (loops ? 3 : 2)) {
    fprintf(stderr, "usage: %s [--loop] PIPELINE\n", arguments[0]);
    return 64;
  }
  gst_init(NULL, NULL);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch(arguments[count - 1], &error);
  if (pipeline == NULL || error != NULL) {
    fprintf(stderr, "%s: %s\n", arguments[0], error ? error->message : "no pipeline");
    return 65;
  }
  GstAppSinkCallbacks callbacks = {.new_sample = take_sample};
  GPtrArray *sinks = g_ptr_array_new_with_free_func(gst_object_unref);
  for (int number = 0;; number++) {
    gchar *name = g_strdup_printf("s%d", number);
    GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), name);
    g_free(name);
    if (sink == NULL) break;
    if (!loops) gst_app_sink_set_callbacks(GST_APP_SINK(sink), &callbacks, NULL, NULL);
    g_ptr_array_add(sinks, sink);
  }
  GstBus *bus = gst_element_get_bus(pipeline);
  guint64 allocations_before = allocations();
  double start = seconds(CLOCK_MONOTONIC), processor_start = seconds(CLOCK_PROCESS_CPUTIME_ID);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GPtrArray *threads = g_ptr_array_new();
  for (guint index = 0; loops && index < sinks->len; index++)
    g_ptr_array_add(threads, g_thread_new("loop", take_samples, sinks->pdata[index]));
  GstMessage *message = gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  double elapsed = seconds(CLOCK_MONOTONIC) - start;
  double processor = seconds(CLOCK_PROCESS_CPUTIME_ID) - processor_start;
  gboolean finished = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
  printf(
      "{\"seconds\": %.9f, \"cpuSeconds\": %.9f, \"allocations\": %" G_GUINT64_FORMAT ", \"residentBytes\": %ld}\n", elapsed,
      processor, allocations() - allocations_before, resident_bytes());
  gst_message_unref(message);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  for (guint index = 0; index < threads->len; index++) g_thread_join(threads->pdata[index]);
  g_ptr_array_unref(threads);
  g_ptr_array_unref(sinks);
  gst_object_unref(bus);
  gst_object_unref(pipeline);
  return finished ? 0 : 74;
}
