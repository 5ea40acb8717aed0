import Logging
import PipSink

/// What is seen of controls: PipSink's icon, the app's picture, or a text. Pictures are read once.
struct ControlFaces {
  enum Face {
    case icon(ControlIcon)
    case image(SVGImage)
    case text(String)
  }

  /// The widest text of a control, in units.
  private static let maximumTextWidth = 120
  /// The pictures that were looked for; nil for those that cannot be drawn.
  private var images: [PictureInPictureControl.Icon: SVGImage?] = [:]
  private var widths: [Width: Int] = [:]

  private struct Width: Hashable {
    let text: String
    let scale: Double
  }

  /// What is seen of a control. Where the app's picture cannot be drawn, it is what is seen without it, and that is
  /// logged once.
  subscript(control: PictureInPictureControl) -> Face {
    mutating get {
      if let icon = control.icon, let image = image(icon) { return .image(image) }
      return ControlIcon(control).map { .icon($0) } ?? .text(control.label ?? control.action.name)
    }
  }

  private mutating func image(_ icon: PictureInPictureControl.Icon) -> SVGImage? {
    if let known = images[icon] { return known }
    // The app may make a new document for each state.
    if images.count > 64 { images = [:] }
    var image: SVGImage?
    do throws(PipSinkError) {
      image = try SVGImage(icon)
    } catch {
      Logger(visible: "pipsink.windows").warning("\(error)")
    }
    images[icon] = .some(image)
    return image
  }

  /// The width of a control, in units.
  mutating func width(of control: PictureInPictureControl, scale: Double) -> Int {
    guard case .text(let text) = self[control] else { return ControlBars.side }
    let key = Width(text: text, scale: scale)
    if let known = widths[key] { return known }
    if widths.count > 64 { widths = [:] }
    // There is as much space beside the text as beside an icon.
    let width = OverlayDrawing.width(of: text, scale: scale) + ControlBars.side - 16
    let allowed = min(max(width, ControlBars.side), Self.maximumTextWidth)
    widths[key] = allowed
    return allowed
  }
}

extension PictureInPictureControl {
  /// Whether the background says that it is switched on, because its icon does not.
  var showsState: Bool {
    guard isOn == true else { return false }
    switch action {
    case .raiseHand, .custom: return true
    default: return icon != nil
    }
  }
}
