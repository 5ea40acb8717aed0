// A call SDK that is as small as possible. It stands for those that products have: participants come and go, and it calls
// back on threads of its own, one for each participant.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// A frame in I420. Its planes are valid during the callback.
typedef struct {
  const uint8_t *planes[3];
  int strides[3];
  int width, height;
  // Nanoseconds since the participant has joined.
  uint64_t time;
} call_frame;

// What the SDK tells. The texts are valid during the callback.
typedef struct {
  void *context;
  void (*joined)(void *context, const char *name);
  // The loudness of a participant, from 0 to 1.
  void (*level)(void *context, const char *name, double level);
  void (*muted)(void *context, const char *name, bool is_muted);
  // No frame comes after this.
  void (*left)(void *context, const char *name);
  void (*failed)(void *context, const char *name, const char *reason);
} call_callbacks;

// Begins a call of three participants: anna stays, ben is muted for a while and leaves, and carl's connection fails.
void call_start(call_callbacks callbacks);

// Has a participant's frames come, or no more with NULL. After the return, the old function is not called.
void call_receive(const char *name, void (*frame)(void *context, const call_frame *frame), void *context);

// Whether the sound of the call is off.
void call_set_muted(bool is_muted);
