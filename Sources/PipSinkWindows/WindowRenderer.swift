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

  /// OpenGL ES on X11; libEGL is opened then. The processor draws interlaced frames, those with a high dynamic range, and
  /// those with subtitles in them, and takes over when OpenGL ES fails. On Wayland it is the same as ``automatic``.
  ///
  /// Nothing is chosen by what it costs: on a machine without a GPU, Mesa's llvmpipe draws, which is slower than the
  /// processor's own path.
  case openGL = "gl"

  private static let choice = Locked<WindowRenderer?>(nil)

  /// The choice for the windows of this program that are made from now on. At first it is that of the environment variable
  /// `PIPSINK_RENDERER`, which has the raw value of a renderer, or else ``automatic``. It can be set on any thread.
  public static var current: WindowRenderer {
    get { choice.withLock { $0 } ?? fromEnvironment }
    set { choice.withLock { $0 = newValue } }
  }

  private static let fromEnvironment: WindowRenderer = {
    guard let text = g_getenv("PIPSINK_RENDERER").map({ String(cString: $0) }) else { return .automatic }
    if let renderer = WindowRenderer(rawValue: text) { return renderer }
    let known = allCases.map(\.rawValue).joined(separator: ", ")
    Logger(visible: "pipsink.windows").warning(
      "PIPSINK_RENDERER says \"\(text)\", which is none of \(known), and is ignored")
    return .automatic
  }()
}
