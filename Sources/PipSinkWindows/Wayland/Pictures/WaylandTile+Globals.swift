import CWindows
import Logging
import PipSink

extension WaylandTile {
  /// The compositor's global objects that tiles need. Those that are optional are nil where the compositor lacks them.
  struct Globals: Sendable {
    let compositor: WaylandObject<WLCompositor>
    let subcompositor: WaylandObject<WLSubcompositor>
    let sharedMemory: WaylandObject<WLShm>
    let viewporter: WaylandObject<WPViewporter>?
    let fractionalScaleManager: WaylandObject<WPFractionalScaleManager>?
    let alphaModifier: WaylandObject<WPAlphaModifier>?
    let presentation: WaylandPresentation?
    /// Who draws frames.
    let renderer: WindowRenderer
    /// Which frames the compositor reads itself; nil where the processor draws all of them (``WindowRenderer``).
    let frameFormats: WaylandFrameFormats?
    /// Whether pictures are enlarged by the compositor. One that draws by a GPU does so without cost, and gets fewer
    /// pixels. The environment variable `PIPSINK_WAYLAND_SCALING` may say `compositor` or `program`.
    let enlarges: Bool

    /// - Returns: nil when a required object is missing, for instance because the compositor has gone.
    init?(_ globals: WaylandGlobals, _ renderer: WindowRenderer) {
      guard let compositor = globals.compositor, let subcompositor = globals.subcompositor,
        let sharedMemory = globals.sharedMemory
      else { return nil }
      (self.compositor, self.subcompositor, self.sharedMemory) = (compositor, subcompositor, sharedMemory)
      (viewporter, alphaModifier) = (globals.viewporter, globals.alphaModifier)
      (fractionalScaleManager, presentation) = (globals.fractionalScaleManager, globals.presentation)
      self.renderer = renderer
      frameFormats = renderer == .processor || renderer == .openGL ? nil : globals.frameFormats
      enlarges = viewporter != nil && (Self.wantedScaling.map { $0 == .compositor } ?? globals.drawsByGPU)
    }

    /// Who enlarges pictures.
    private enum Scaling: String { case compositor, program }

    private static let wantedScaling: Scaling? = {
      guard let text = g_getenv("PIPSINK_WAYLAND_SCALING").map({ String(cString: $0) }) else { return nil }
      let scaling = Scaling(rawValue: text)
      if scaling == nil {
        Logger(visible: "pipsink.windows").warning(
          "PIPSINK_WAYLAND_SCALING says \"\(text)\", which is neither compositor nor program, and is ignored")
      }
      return scaling
    }()
  }
}
