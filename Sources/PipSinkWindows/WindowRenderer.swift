import CWindows
import Logging
import PipSink

/// Who draws a stream's frames in PipSink's windows.
public enum WindowRenderer: String, CaseIterable, Sendable {
  /// What costs least on this display and looks the same: the compositor where it reads a frame's memory and computes its
  /// colours as PipSink does, and the processor elsewhere.
  case automatic = "auto"
  /// The processor, for every frame.
  case processor = "cpu"
  /// A Wayland compositor, for every frame whose memory it reads (DMABuf), even if it does not say how it computes colours
  /// from YUV. Other frames are drawn by the processor.
  case direct

  /// OpenGL ES; libEGL is opened then. The processor draws interlaced frames, those with a high dynamic range, and those
  /// with subtitles in them, and takes over when OpenGL ES fails. On Wayland it also draws in a toolkit's windows, and
  /// where the compositor has no wp_viewporter.
  ///
  /// Nothing is chosen by what it costs: on a machine without a GPU, Mesa's llvmpipe draws, which is slower than the
  /// processor's own path.
  case openGL = "gl"

  /// The renderer that the environment variable `PIPSINK_RENDERER` names by its raw value, or else ``automatic``. It is
  /// the default for windows. The variable is read once.
  public static let fromEnvironment: WindowRenderer = {
    guard let text = g_getenv("PIPSINK_RENDERER").map({ String(cString: $0) }) else { return .automatic }
    if let renderer = WindowRenderer(rawValue: text) { return renderer }
    let known = allCases.map(\.rawValue).joined(separator: ", ")
    Logger(visible: "pipsink.windows").warning(
      "PIPSINK_RENDERER says \"\(text)\", which is none of \(known), and is ignored")
    return .automatic
  }()
}
