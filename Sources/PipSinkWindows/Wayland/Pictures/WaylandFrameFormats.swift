import PipSink

/// Which frames a compositor reads itself: the formats of memory that devices share (linux-dmabuf), and how it computes
/// colours from YUV (color-representation).
final class WaylandFrameFormats: Sendable, CustomStringConvertible {
  private struct State {
    var factory: WaylandObject<ZWPLinuxDMABuf>?
    /// The modifiers of each format, by the format's DRM code.
    var modifiers: [UInt32: Set<UInt64>] = [:]
    var colorManager: WaylandObject<WPColorRepresentationManager>?
    var colors: Set<WaylandColors> = []
  }

  /// The modifiers of memory whose rows are one after the other, and of memory whose layout its driver knows.
  private static let (linear, implicit) = (UInt64(0), UInt64(0x00ff_ffff_ffff_ffff))

  private let state = Locked(State())

  /// The compositor's global objects. Each is set once.
  var factory: WaylandObject<ZWPLinuxDMABuf>? {
    get { state.withLock { $0.factory } }
    set { state.withLock { $0.factory = newValue } }
  }
  var colorManager: WaylandObject<WPColorRepresentationManager>? {
    get { state.withLock { $0.colorManager } }
    set { state.withLock { $0.colorManager = newValue } }
  }

  /// Sets the handlers of the factory's events.
  func follow(_ events: WaylandHandlers<ZWPLinuxDMABuf>) {
    events.modifier { [weak self] format, upper, lower in
      self?.state.withLock { _ = $0.modifiers[format, default: []].insert(UInt64(upper) << 32 | UInt64(lower)) }
    }
  }

  /// Sets the handlers of the colour manager's events.
  func follow(_ events: WaylandHandlers<WPColorRepresentationManager>) {
    events.supportedCoefficientsAndRanges { [weak self] coefficients, range in
      let colors = WaylandColors(coefficients: coefficients, range: range)
      self?.state.withLock { _ = $0.colors.insert(colors) }
    }
  }

  /// Makes the object that says how a surface's YUV becomes RGB; nil where the compositor has none.
  func colors(of surface: WaylandObject<WLSurface>) -> WaylandObject<WPColorRepresentationSurface>? {
    colorManager?.getSurface(surface.reference)
  }

  /// How the compositor reads progressive frames of a format with the standard dynamic range, or nil when it cannot.
  ///
  /// - Parameters:
  ///   - format: the format.
  ///   - mayLookDifferent: whether the compositor may compute colours from YUV as it likes.
  func way(for format: VideoFormatDescription, mayLookDifferent: Bool) -> WaylandFrameWay? {
    guard let code = format.pixelFormat.drmCode else { return nil }
    let colors = format.pixelFormat.isYUV ? WaylandColors(format.colorimetry) : nil
    return state.withLock { state in
      guard state.factory != nil, let modifiers = state.modifiers[code],
        let modifier = [Self.linear, Self.implicit].first(where: modifiers.contains)
      else { return nil }
      let areColorsKnown = colors.map(state.colors.contains) ?? true
      guard areColorsKnown || mayLookDifferent else { return nil }
      return WaylandFrameWay(code: code, modifier: modifier, colors: areColorsKnown ? colors : nil)
    }
  }

  /// The formats of the memory that the compositor reads, each with its layouts, for reports.
  var formatNames: [String] {
    state.withLock { state in
      state.modifiers.sorted { $0.key < $1.key }.map { code, modifiers in
        let name = String(decoding: (0..<4).map { UInt8(truncatingIfNeeded: code >> ($0 * 8)) }, as: UTF8.self)
        return "\(name), modifiers \(modifiers.sorted().map { "0x" + String($0, radix: 16) }.joined(separator: " "))"
      }
    }
  }

  /// What the compositor does with frames in DMABufs, in a sentence for people.
  var description: String {
    state.withLock { state in
      guard state.factory != nil, !state.modifiers.isEmpty else {
        return "the processor draws; the compositor reads no DMABufs (linux-dmabuf)"
      }
      let yuv = state.colors.isEmpty ? "RGB alone, since it does not say how it computes YUV" : "RGB and YUV"
      return "the compositor reads frames in DMABufs, of \(yuv); the processor draws all others"
    }
  }
}

/// How a compositor reads frames of a format.
struct WaylandFrameWay: Hashable {
  /// The DRM code of the format.
  let code: UInt32
  /// The layout of the memory, as DRM numbers it.
  let modifier: UInt64
  /// How YUV becomes RGB; nil for RGB.
  let colors: WaylandColors?
}

/// How YUV becomes RGB, as a compositor calls it.
struct WaylandColors: Hashable {
  let coefficients: WPColorRepresentationSurface.Coefficients
  let range: WPColorRepresentationSurface.Range
}

extension WaylandColors {
  init(_ colorimetry: Colorimetry) {
    coefficients =
      switch colorimetry.matrix {
      case .bt601: .bt601
      case .bt709: .bt709
      case .bt2020: .bt2020
      }
    range = colorimetry.isFullRange ? .full : .limited
  }
}

extension PixelFormat {
  /// The format's code in the kernel's `drm_fourcc.h`, whose names begin with the last byte of a pixel; nil where it has
  /// none, or none that is common. The alpha of a frame is not used.
  fileprivate var drmCode: UInt32? {
    let name: StaticString? =
      switch self {
      case .bgra, .bgrx: "XR24"
      case .rgba, .rgbx: "XB24"
      case .argb, .xrgb: "BX24"
      case .rgb: "BG24"
      case .bgr: "RG24"
      case .nv12: "NV12"
      case .nv21: "NV21"
      case .i420: "YU12"
      case .yv12: "YV12"
      case .yuy2: "YUYV"
      case .uyvy: "UYVY"
      case .y444: "YU24"
      case .i422: "YU16"
      case .p010: "P010"
      case .y210: "Y210"
      case .gray8, .i420Ten, .i422Ten: nil
      }
    return name.map { name in
      name.withUTF8Buffer { $0.reversed().reduce(0) { $0 << 8 | UInt32($1) } }
    }
  }
}
