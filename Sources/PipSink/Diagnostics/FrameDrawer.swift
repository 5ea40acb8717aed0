/// Who makes a screen's picture from a frame.
package enum FrameDrawer: Sendable {
  /// This program, by the processor.
  case processor
  /// This program, by OpenGL ES.
  case openGL
  /// The display server, from the frame's own memory.
  case displayServer
}
