// The types and constants of EGL and OpenGL ES 3.
//
// Nothing is linked with these libraries: they are opened when the first window draws with them, so that programs that
// do not do so do not load a driver of a graphics processor. The functions are not declared here, so that none can be
// called by mistake.
#ifndef PIPSINK_CGL_SHIM_H
#define PIPSINK_CGL_SHIM_H

#define EGL_NO_PLATFORM_SPECIFIC_TYPES
#define EGL_EGL_PROTOTYPES 0
#define GL_GLES_PROTOTYPES 0

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl3.h>

#endif
