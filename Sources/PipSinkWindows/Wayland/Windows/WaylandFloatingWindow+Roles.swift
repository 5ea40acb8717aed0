import CWindows
import PipSink

/// The objects that make the window's surface a layer, a picture-in-picture window or an ordinary window.
extension WaylandFloatingWindow {
  func makeLayer(_ surface: WaylandSurface) {
    // Layer 3 is the overlay, after background, bottom and top.
    layer = globals.layerShell?.make(
      .layerSurface, 0, .new, .object(surface.surface.pointer), .object(home?.proxy?.pointer), .uint(3),
      .text(WindowIdentity.role),
      destructor: 7,
      handler: { [signals] event, arguments in
        guard event == 0 else { return signals.append(.closed) }
        let size = PictureSize(width: Int(arguments.uint(1)), height: Int(arguments.uint(2)))
        signals.append(.configured(serial: arguments.uint(0), size.isValid ? size : nil, states: []))
      })
    guard let layer else { return }
    layer.send(0, .uint(UInt32(clamping: wantedSize.width)), .uint(UInt32(clamping: wantedSize.height)))
    applyPlace()
  }

  func makeShellObject(_ surface: WaylandSurface) {
    let configure: @Sendable (WaylandArguments, [UInt32]) -> Void
    (xdgSurface, configure) = makeShellSurface(surface)
    guard let xdgSurface else { return }
    if role == .pip {
      shellObject = globals.pipShell?.make(.pip, 1, .new, .object(xdgSurface.pointer)) { [signals] event, arguments in
        switch event {
        case 0: signals.append(.closed)
        case 2: configure(arguments, [])
        default: break
        }
      }
      shellObject?.send(1, .text(WindowIdentity.programName))
      return
    }
    shellObject = xdgSurface.make(.toplevel, 1, .new) { [signals] event, arguments in
      switch event {
      case 0: configure(arguments, arguments.numbers(2))
      case 1: signals.append(.event(.closeRequested))
      default: break
      }
    }
    guard let shellObject else { return }
    shellObject.send(2, .text(WindowIdentity.title))
    shellObject.send(3, .text(WindowIdentity.programName))
    setMinimum()
    globals.tagManager?.send(1, .object(shellObject.pointer), .text("pip"))
    // xdg-decoration: mode 1 says that the client draws the border. This window has none.
    decoration = globals.decorationManager?.make(.decoration, 1, .new, .object(shellObject.pointer))
    decoration?.send(1, .uint(1))
  }

  /// Tells the compositor the smallest size of an ordinary window.
  func setMinimum() {
    let width = WindowPlacement.minimumWidth
    let height = WindowPlacement.minimumHeight(aspectRatio)
    shellObject?.send(8, .int(width), .int(height))
  }
}
