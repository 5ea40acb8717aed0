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

typedef enum { CALL_JOINED, CALL_LEVEL, CALL_MUTED, CALL_LEFT, CALL_FAILED } call_event_kind;

// What the SDK tells of a participant. The name is valid during the callback.
typedef struct {
  call_event_kind kind;
  const char *name;
  // The loudness from 0 to 1, in CALL_LEVEL.
  double level;
  // In CALL_MUTED.
  bool is_muted;
} call_event;

// Begins a call of three participants: anna stays, ben is muted for a while and leaves, and carl's connection fails.
void call_start(void (*follow)(void *context, const call_event *event), void *context);

// Has a participant's frames come, or no more with NULL. After the return, the old function is not called.
void call_receive(const char *name, void (*frame)(void *context, const call_frame *frame), void *context);

// Whether the sound of the call is off.
void call_set_muted(bool is_muted);
