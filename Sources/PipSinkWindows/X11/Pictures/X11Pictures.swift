import CWindows
import PipSink

/// The pictures of a tile in memory that the X server reads: the one that was sent last, and memory for the next one.
/// Only one thread uses it at a time.
///
/// Pictures are sent on a connection on which no thread waits. Whether the server has read the last picture is looked
/// up when the next one is drawn.
struct X11Pictures: ~Copyable {
  /// The largest number of images. Two are enough: the server reads one while the other is drawn.
  private static let most = 2

  private let connection: X11Connection
  private let window: UInt32
  private let depth: UInt8
  /// The images, the one that was sent last first.
  private var images: [Entry] = []
  /// What the first image shows.
  private var contents = TileContents.black
  /// The pixels of the first image that the decoration covers.
  private var underlay = PictureUnderlay()
  private var canvas = FrameCanvas()
  /// The graphics context for drawing.
  private var context: UInt32?
  private(set) var convertedCount: UInt64 = 0

  private struct Entry {
    let image: X11Image
    /// Whether the server may still read the image.
    var isBusy = false
    /// The request whose answer says that the server has got an image that was sent through the connection.
    var receipt: xcb_get_input_focus_cookie_t?
    /// The rectangle of the last picture on the image.
    var target: PictureRect?
  }

  /// - Parameters:
  ///   - connection: the connection on which pictures are sent.
  ///   - window: the XID of the window that shows them.
  ///   - depth: the window's depth, in bits for each pixel.
  init(_ connection: X11Connection, _ window: UInt32, depth: UInt8) {
    (self.connection, self.window, self.depth) = (connection, window, depth)
  }

  /// Releases all images.
  mutating func forget() {
    for entry in images { entry.receipt.map { connection.forget($0.sequence) } }
    images = []
    canvas = FrameCanvas()
    forgetPicture()
  }

  /// Forgets the newest picture, and keeps the memory.
  mutating func forgetPicture() {
    contents = .black
    underlay.forget()
  }

  /// Releases the memory while a text replaces the picture, which may be for long. The server keeps the text.
  mutating func releaseHiddenPicture() {
    let contents = contents.released
    forget()
    self.contents = contents
  }

  /// Whether the newest picture can be shown with another decoration, as in ``TileContents``.
  func canRedraw(_ size: PictureSize, isHidden: Bool) -> Bool {
    contents.canRedraw(hasSize: images.first?.image.size == size, isHidden: isHidden)
  }

  /// Sends the newest picture, or black where there is none, with the current decoration.
  ///
  /// - Returns: false when the server still reads all images.
  /// - Throws: ``PipSink/RenderingError`` when the server has refused the last picture or has gone, or when there is no
  ///   memory.
  mutating func redraw(_ decoration: any PictureDecoration, in area: PictureRect) throws(RenderingError) -> Bool {
    let shown = contents == .picture ? images.first : nil
    guard let image = try freeImage(of: area.size) else { return false }
    if let shown {
      if shown.image !== image {
        image.pixels.update(from: shown.image.pixels, count: image.stride * image.size.height)
      }
      images[0].target = shown.target
      underlay.restore(on: image.pixels, stride: image.stride)
    } else {
      FrameCanvas.clear(image.pixels, stride: image.stride, size: image.size)
      images[0].target = nil
    }
    try send(image, decoration, in: area)
    return true
  }

  /// Draws a frame with the current decoration, and sends it.
  ///
  /// - Returns: false when the server still reads all images.
  /// - Throws: ``PipSink/RenderingError`` when the server has refused the last picture or has gone, when the frame
  ///   cannot be converted, or when there is no memory.
  mutating func draw(
    _ sampleBuffer: SampleBuffer, gravity: VideoGravity, _ decoration: any PictureDecoration, in area: PictureRect
  ) throws(RenderingError) -> Bool {
    let last = images.first?.image
    guard let image = try freeImage(of: area.size) else { return false }
    if image === last {
      underlay.restore(on: image.pixels, stride: image.stride)
    } else {
      // The image may still have an older decoration, so it is drawn completely.
      images[0].target = nil
    }
    do throws(PipSinkError) {
      images[0].target = try canvas.draw(
        sampleBuffer, gravity: gravity, on: image.pixels, stride: image.stride, size: image.size,
        keeping: images[0].target)
    } catch {
      throw RenderingError(error)
    }
    contents = .picture
    convertedCount += 1
    try send(image, decoration, in: area)
    return true
  }

  /// Returns a copy of the newest picture without its decoration, or nil when there is none.
  func copy() -> BGRAImage? {
    guard contents == .picture, let image = images.first?.image else { return nil }
    var bytes = image.bytes
    underlay.restore(inCopy: &bytes, width: image.size.width)
    return BGRAImage(size: image.size, opaque: bytes)
  }

  // MARK: - The server

  /// Whether there is an image that the server does not read, or can be one.
  ///
  /// - Throws: ``PipSink/RenderingError`` when the server has refused the last picture or has gone.
  mutating func hasFreeImage() throws(RenderingError) -> Bool {
    try lookUpWhatTheServerHasRead()
    return images.count < Self.most || !images.allSatisfy(\.isBusy)
  }

  /// Finds or creates an image of a size that the server does not read, and makes it the first of the images.
  ///
  /// - Returns: nil when the server still reads all images.
  /// - Throws: ``PipSink/RenderingError`` when the server has refused the last picture, has gone or does not answer, or
  ///   when there is no memory.
  private mutating func freeImage(of size: PictureSize) throws(RenderingError) -> X11Image? {
    if let newest = images.first, newest.image.size != size { forget() }
    guard try hasFreeImage() else { return nil }
    if let index = images.firstIndex(where: { !$0.isBusy }) {
      images.insert(images.remove(at: index), at: 0)
    } else {
      images.insert(Entry(image: try X11Image(connection, depth: depth, size: size)), at: 0)
    }
    return images[0].image
  }

  /// Draws the decoration on the first image and sends it to the server.
  private mutating func send(
    _ image: X11Image, _ decoration: any PictureDecoration, in area: PictureRect
  ) throws(RenderingError) {
    underlay.forget()
    underlay.draw(decoration, on: image.pixels, stride: image.stride, in: area, isBlack: contents != .picture)
    try image.put(into: window, at: (0, 0), graphicsContext(), isChecked: false)
    images[0].isBusy = true
    images[0].receipt = image.segmentID == nil ? xcb_get_input_focus(connection.pointer) : nil
    connection.flush()
  }

  /// Handles the answers and events that have arrived on the connection, without waiting, as long as images are busy.
  ///
  /// - Throws: ``PipSink/RenderingError`` when the server has refused a picture or has gone.
  private mutating func lookUpWhatTheServerHasRead() throws(RenderingError) {
    for index in images.indices {
      guard let receipt = images[index].receipt, connection.hasAnswered(receipt.sequence) else { continue }
      (images[index].isBusy, images[index].receipt) = (false, nil)
    }
    while images.contains(where: \.isBusy), let event = connection.nextEvent() {
      defer { free(event) }
      if event.pointee.response_type == 0 {
        let code = UnsafeRawPointer(event).load(as: xcb_generic_error_t.self).error_code
        throw connection.refusal(of: code, in: window)
      }
      guard let base = connection.sharedMemoryEventBase,
        event.pointee.response_type & 0x7f == base + UInt8(XCB_SHM_COMPLETION)
      else { continue }
      let segment = UnsafeRawPointer(event).load(as: xcb_shm_completion_event_t.self).shmseg
      for index in images.indices where images[index].image.segmentID == segment { images[index].isBusy = false }
    }
    if connection.isBroken { throw connection.hasGone }
  }

  private mutating func graphicsContext() -> UInt32 {
    if let context { return context }
    let new = xcb_generate_id(connection.pointer)
    xcb_create_gc(connection.pointer, new, window, 0, nil)
    context = new
    return new
  }
}
