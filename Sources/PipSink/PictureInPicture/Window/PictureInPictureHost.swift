/// A window for picture-in-picture: one of PipSinkWindows, one in memory, or one of the app's. A controller uses it on
/// the main actor, and one window belongs to one controller.
@MainActor
public protocol PictureInPictureHost: AnyObject {
  /// The renderer of the window's first place. It stays the same for the window's whole life, even while the window is
  /// closed.
  var renderer: any VideoRenderer { get }

  /// The renderers of further places (``PictureInPicturePlace/slot``), of which the window shows those that are among
  /// ``PictureInPicturePresentation/places``. They stay the same for the window's whole life. There are none, as by
  /// default, in windows that show one stream only; a grid has up to nine places.
  var otherRenderers: [any VideoRenderer] { get }

  /// Why windows of this kind cannot be shown here; nil where they can.
  var unsupportedReason: String? { get }

  /// What windows of this kind cannot do here, such as staying above others; nil, as by default, where nothing is
  /// missing.
  var limitation: String? { get }

  /// What the window calls when something happens to it. The controller sets it, and it does not keep the window alive.
  var eventHandler: (@MainActor (PictureInPictureWindowEvent) -> Void)? { get set }

  /// Shows the window. It may have been open before.
  ///
  /// - Throws: ``PipSinkError`` when the window cannot be created.
  func open(_ presentation: PictureInPicturePresentation) throws(PipSinkError)

  /// Changes what the window shows, while it is open.
  func update(_ presentation: PictureInPicturePresentation)

  /// Closes the window, without an event.
  func close()
}

/// A window on a desktop, which does some of its controls itself.
@MainActor
package protocol DesktopPictureInPictureHost: PictureInPictureHost {
  /// What the window can do now of ``PictureInPictureAction/fullscreen``, ``PictureInPictureAction/changeSize`` and
  /// ``PictureInPictureAction/clickThrough``.
  var abilities: Set<PictureInPictureAction> { get }
  /// Whether the window fills its monitor.
  var isFullscreen: Bool { get }
  /// Fills the monitor, or stops that.
  func toggleFullscreen()
  /// Takes the next of the sizes that the window has for users who do not drag its corners.
  func changeSize()
  /// Gives the window the keyboard, and shows which control it uses.
  ///
  /// - Returns: whether that is possible here.
  func takeKeyboard() -> Bool
  /// The control that the keyboard uses; nil for none.
  var focusedAction: PictureInPictureAction? { get }
  /// Called when that has changed.
  var focusChanged: (@MainActor () -> Void)? { get set }
}

/// How well picture-in-picture works here: on this display, with this window manager or compositor.
public enum PictureInPictureSupport: Equatable, Sendable, CustomStringConvertible {
  /// Windows can be shown, and nothing is missing.
  case full
  /// Windows can be shown, but something is missing; for instance, other windows can cover them. The reason says what.
  case limited(reason: String)
  /// No window can be shown. The reason says why.
  case unsupported(reason: String)

  /// Whether a window can be shown.
  public var isSupported: Bool { if case .unsupported = self { false } else { true } }

  /// "full", or the kind and the reason.
  public var description: String {
    switch self {
    case .full: "full"
    case .limited(let reason): "limited: \(reason)"
    case .unsupported(let reason): "unsupported: \(reason)"
    }
  }
}

extension PictureInPictureHost {
  /// Nothing is missing.
  public var limitation: String? { nil }
  /// The window shows one stream.
  public var otherRenderers: [any VideoRenderer] { [] }

  /// Both properties in one value.
  var support: PictureInPictureSupport {
    if let unsupportedReason { return .unsupported(reason: unsupportedReason) }
    return limitation.map { .limited(reason: $0) } ?? .full
  }
}

/// Everything that a picture-in-picture window has to show, apart from frames.
public struct PictureInPicturePresentation: Equatable, Sendable {
  /// How the places are arranged.
  public var layout: PictureInPictureLayout
  /// What the window's places show, in the order of the layout. There is always one.
  public var places: [PictureInPicturePlace]
  /// How many streams have no place, because the grid is full.
  public var overflowCount: Int
  /// The window's shape: width divided by height. With nil the shape is free.
  public var aspectRatio: Double?
  /// The controls that do something now, each with the state that it shows, in the order in which the app has given them.
  public var controls: [PictureInPictureControl]

  /// The opacity of the window, from 0.1 to 1.
  package var opacity = 1.0
  /// Whether presses and scrolling go to the windows below.
  package var isClickThrough = false
  /// Whether the window goes to another corner when the pointer comes.
  package var stepsAside = false

  /// How far the stream of the first place has come; nil where it cannot be sought in.
  package var progress: PlaybackProgress?

  /// The title of picture-in-picture windows, followed by the names of the streams that this one shows.
  package var title: String {
    let (title, names) = (ShownTexts.current.pictureInPictureTitle, places.map(\.participant.name))
    let shown = names.filter { !$0.isEmpty }
    return shown.isEmpty ? title : "\(title): \(shown.joined(separator: ", "))"
  }

  /// What the controls do.
  package var actions: Set<PictureInPictureAction> { Set(controls.map(\.action)) }

  /// The stream in the window's first place.
  package var streamID: StreamID { places.first?.streamID ?? "" }
  /// The stream in the window's second place; nil where one stream has the whole window.
  package var secondStreamID: StreamID? { places.count > 1 ? places[1].streamID : nil }
  /// What stands in place of the picture of ``streamID``; nil while the picture is shown.
  package var placeholder: StreamPlaceholder? { places.first?.placeholder }

  /// The rectangles of the window's renderers; nil for those that show nothing.
  ///
  /// - Parameters:
  ///   - size: the window's size, in pixels.
  ///   - isLeft: whether the small picture of the `speaker` layout is on the left side.
  ///   - isTop: whether it is at the top.
  /// - Returns: a rectangle, in pixels, for each slot. Where two overlap, the later one is above.
  package func rectangles(in size: PictureSize, isLeft: Bool = false, isTop: Bool = false) -> [PictureRect?] {
    var rectangles = [PictureRect?](repeating: nil, count: PictureInPictureLayout.maximumPlaceCount)
    for (place, rectangle) in zip(
      places, layout.rectangles(count: places.count, in: size, isLeft: isLeft, isTop: isTop))
    {
      rectangles[place.slot] = rectangle
    }
    return rectangles
  }
}

/// How far a stream has come.
package struct PlaybackProgress: Equatable, Sendable {
  /// The time from the start of the source.
  package var position: MediaTime
  /// The duration of the source.
  package var duration: MediaTime

  /// Makes it of its parts.
  package init(position: MediaTime, duration: MediaTime) {
    (self.position, self.duration) = (position, duration)
  }
}

/// What happens to a picture-in-picture window.
public enum PictureInPictureWindowEvent: Sendable {
  /// The user has used a control.
  case action(PictureInPictureAction)
  /// The user wants the stream to go on at a time from the start of its source.
  case seek(to: MediaTime)
  /// The window has disappeared without having been closed.
  case lost(PipSinkError)
  /// The window has a new size, in pixels.
  case renderSizeChanged(PictureSize)
  /// The user can see the window now, or cannot any more.
  case visibilityChanged(Bool)
}
