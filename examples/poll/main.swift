import CWindows
import PipSink
import PipSinkWindows

// A poll in picture-in-picture: the app draws a question and two buttons over the picture, and counts who clicks what.
@MainActor
final class Poll {
  private var answers = [(text: "Yes", count: 0), (text: "No", count: 0)]
  private var width = 0.0
  private var hovered: Int? { didSet { if hovered != oldValue { content.redraw() } } }

  lazy var content = PictureInPictureContent { [unowned self] in
    handle($0)
  } drawing: { [unowned self] in
    width = Double($1.width)
    draw("Is it time for a break?", at: (width / 2, 40), size: 16, on: $0)
    for (index, answer) in answers.enumerated() {
      cairo_rectangle($0, left(of: index), 56, 88, 28)
      cairo_set_source_rgb($0, 0, hovered == index ? 0.5 : 0.35, 0.7)
      cairo_fill($0)
      draw("\(answer.text): \(answer.count)", at: (left(of: index) + 44, 75), size: 14, on: $0)
    }
  }

  private func left(of index: Int) -> Double { width / 2 - 92 + 96 * Double(index) }

  private func draw(_ text: String, at place: (x: Double, y: Double), size: Double, on context: OpaquePointer) {
    var extents = cairo_text_extents_t()
    cairo_select_font_face(context, "sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD)
    cairo_set_font_size(context, size)
    cairo_text_extents(context, text, &extents)
    cairo_move_to(context, place.x - extents.x_advance / 2, place.y)
    cairo_set_source_rgb(context, 1, 1, 1)
    cairo_show_text(context, text)
  }

  private func handle(_ event: PointerEvent) -> Bool {
    var new: Int?
    if case .moved(let x, 56..<84) = event { new = answers.indices.first { (0..<88).contains(x - left(of: $0)) } }
    if case .pressed(1, let x, 56..<84) = event {
      guard let index = answers.indices.first(where: { (0..<88).contains(x - left(of: $0)) }) else { return false }
      answers[index].count += 1
      content.redraw()
      return true
    }
    if case .released = event { return true }
    hovered = new
    return false
  }
}

MainLoop.run {
  let (display, poll) = (try WindowDisplay(), Poll())
  display.pictureInPictureContent = poll.content
  let session = try PictureInPictureSession(
    "videotestsrc is-live=true pattern=green ! video/x-raw,width=1280,height=720 ! appsink name=talk", display: display)
  try session.startPictureInPicture("talk")
  try await session.run()
}
