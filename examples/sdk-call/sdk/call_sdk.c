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
    {.name = "ben", .begin = rate / 2, .end = 20 * rate, .luma = 60, .lock = PTHREAD_MUTEX_INITIALIZER},
    {.name = "carl", .begin = rate, .end = 18 * rate, .luma = 120, .fails = true, .lock = PTHREAD_MUTEX_INITIALIZER},
};
static void (*follow)(void *context, const call_event *event);
static void *follow_context;

static void tell(const participant *who, call_event event) {
  event.name = who->name;
  follow(follow_context, &event);
  if (event.kind == CALL_LEFT) printf("%s has left\n", who->name);
  if (event.kind == CALL_FAILED) printf("%s: the connection was lost\n", who->name);
}

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
    if (number == who->begin) tell(who, (call_event){.kind = CALL_JOINED});
    if (number >= who->begin) {
      send_frame(who, number - who->begin);
      tell(who, (call_event){.kind = CALL_LEVEL, .level = (number / rate) % 2 ? 0.1 : 0.5});
    }
    if (who->luma == 60 && (number == 2 * rate || number == 3 * rate))
      tell(who, (call_event){.kind = CALL_MUTED, .is_muted = number == 2 * rate});
    nanosleep(&(struct timespec){0, 1000000000 / rate}, NULL);
  }
  tell(who, (call_event){.kind = who->fails ? CALL_FAILED : CALL_LEFT});
  return NULL;
}

void call_start(void (*new_follow)(void *context, const call_event *event), void *context) {
  follow = new_follow;
  follow_context = context;
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
