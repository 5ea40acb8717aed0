#include "call_sdk.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { rate = 30, width = 320, height = 180 };

typedef struct {
  const char *name;
  // The time from the start to the end in frames, and how bright the picture is.
  int begin, end, luma;
  bool fails;
  pthread_mutex_t lock;
  void (*frame)(void *context, const call_frame *frame);
  void *context;
  uint8_t pixels[width * height * 3 / 2];
} participant;

static participant participants[] = {
    {.name = "anna", .begin = 0, .end = 3600 * rate, .luma = 180, .lock = PTHREAD_MUTEX_INITIALIZER},
    {.name = "ben", .begin = 0, .end = 5 * rate, .luma = 60, .lock = PTHREAD_MUTEX_INITIALIZER},
    {.name = "carl", .begin = rate, .end = 3 * rate, .luma = 120, .fails = true, .lock = PTHREAD_MUTEX_INITIALIZER},
};
static call_callbacks callbacks;

static void send_frame(participant *who, int number) {
  memset(who->pixels, who->luma + number % 20, width * height);
  const uint8_t *chroma = who->pixels + width * height;
  call_frame frame = {{who->pixels, chroma, chroma + width * height / 4}, {width, width / 2, width / 2}, width, height,
                      (uint64_t)number * 1000000000 / rate};
  pthread_mutex_lock(&who->lock);
  if (who->frame) who->frame(who->context, &frame);
  pthread_mutex_unlock(&who->lock);
}

static void *run(void *data) {
  participant *who = data;
  memset(who->pixels, 128, sizeof who->pixels);
  for (int number = 0; number < who->end; number++) {
    if (number == who->begin) callbacks.joined(callbacks.context, who->name);
    if (number >= who->begin) {
      send_frame(who, number - who->begin);
      callbacks.level(callbacks.context, who->name, (number / rate) % 2 ? 0.1 : 0.5);
    }
    if (who->luma == 60 && (number == 2 * rate || number == 3 * rate))
      callbacks.muted(callbacks.context, who->name, number == 2 * rate);
    nanosleep(&(struct timespec){0, 1000000000 / rate}, NULL);
  }
  if (who->fails)
    callbacks.failed(callbacks.context, who->name, "the connection was lost");
  else
    callbacks.left(callbacks.context, who->name);
  return NULL;
}

void call_start(call_callbacks new_callbacks) {
  callbacks = new_callbacks;
  for (size_t i = 0; i < sizeof participants / sizeof *participants; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, &participants[i]) == 0) pthread_detach(thread);
  }
}

void call_receive(const char *name, void (*frame)(void *context, const call_frame *frame), void *context) {
  for (size_t i = 0; i < sizeof participants / sizeof *participants; i++) {
    participant *who = &participants[i];
    if (strcmp(who->name, name) != 0) continue;
    pthread_mutex_lock(&who->lock);
    who->frame = frame;
    who->context = context;
    pthread_mutex_unlock(&who->lock);
  }
}

void call_set_muted(bool is_muted) { printf("the call's sound is %s\n", is_muted ? "off" : "on"); }
