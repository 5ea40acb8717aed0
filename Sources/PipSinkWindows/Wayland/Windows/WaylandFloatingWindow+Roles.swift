import PipSink

/// The objects that make the window's surface a layer, a picture-in-picture window or an ordinary window.
extension WaylandFloatingWindow {
  func makeLayer(_ surface: WaylandSurface) {
    layer = globals.layerShell?.getLayerSurface(
      surface.surface.reference, home?.proxy?.reference, .overlay, WindowIdentity.role
    ) { [signals] events in
      events.configure { serial, width, height in
        let size = PictureSize(width: Int(width), height: Int(height))
        signals.append(.configured(serial: serial, size.isValid ? size : nil, states: []))
      }
      events.closed { signals.append(.closed) }
    }
    guard let layer else { return }
    layer.setSize(isFullscreen ? PictureSize(width: 0, height: 0) : wantedSize)
    applyPlace()
  }

  func makeShellObject(_ surface: WaylandSurface) {
    let (xdgSurface, configure) = makeShellSurface(surface)
    self.xdgSurface = xdgSurface
    guard let xdgSurface else { return }
    guard role == .toplevel else {
      pip = globals.pipShell?.getPip(xdgSurface.reference) { [signals] events in
        events.closed { signals.append(.closed) }
        events.configureSize { width, height in configure(width, height, []) }
      }
      pip?.setAppID(WindowIdentity.programName)
      return
    }
    toplevel = makeToplevel(xdgSurface, title: WindowIdentity.title, configure: configure)
    guard let toplevel else { return }
    setMinimum()
    globals.tagManager?.setToplevelTag(toplevel.reference, "pip")
    // The client draws the border. This window has none.
    decoration = globals.decorationManager?.getToplevelDecoration(toplevel.reference)
    decoration?.setMode(.clientSide)
    if isFullscreen { toplevel.fillMonitor(true) }
  }

  /// Tells the compositor the smallest size of an ordinary window.
  func setMinimum() {
    toplevel?.setMinSize(WindowPlacement.minimumWidth, WindowPlacement.minimumHeight(aspectRatio))
  }
}

extension WaylandObject where Interface == ZWLRLayerSurface {
  func setSize(_ size: PictureSize) { setSize(UInt32(clamping: size.width), UInt32(clamping: size.height)) }
}
