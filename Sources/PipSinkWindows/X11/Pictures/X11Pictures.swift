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
  /// The images, the one that was sent last first. `isBusy` says whether the server may still read it.
  private var images: [(image: SharedMemoryImage, isBusy: Bool)] = []
  /// The rectangle of the last picture on each image, by the image's segment.
  private var targets: [UInt32: PictureRect] = [:]
  /// What the first image shows.
  private var contents = TileContents.black
  /// The pixels of the first image that the decoration covers.
  private var underlay = PictureUnderlay()
  private var canvas = FrameCanvas()
  /// The graphics context for drawing.
  private var context: UInt32?
  private(set) var convertedCount: UInt64 = 0

  /// - Parameters:
  ///   - connection: the connection on which pictures are sent.
  ///   - window: the XID of the window that shows them.
  ///   - depth: the window's depth, in bits for each pixel.
  init(_ connection: X11Connection, _ window: UInt32, depth: UInt8) {
    (self.connection, self.window, self.depth) = (connection, window, depth)
  }

  /// Releases all images.
  mutating func forget() {
    (images, targets) = ([], [:])
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
  /// - Throws: ``PipSink/RenderingError`` when the server has refused the last picture or has gone, or when there is no
  ///   memory.
  mutating func redraw(_ decoration: any PictureDecoration, in area: PictureRect) throws(RenderingError) {
    try lookUpWhatTheServerHasRead()
    let shown = contents == .picture ? images.first?.image : nil
    let (image, _) = try freeImage(of: area.size)
    if let shown {
      if shown !== image { image.pixels.update(from: shown.pixels, count: image.stride * image.size.height) }
      targets[image.segmentID] = targets[shown.segmentID]
      underlay.restore(on: image.pixels, stride: image.stride)
    } else {
      FrameCanvas.clear(image.pixels, stride: image.stride, size: image.size)
      targets[image.segmentID] = nil
    }
    send(image, decoration, in: area)
  }

  /// Draws a frame with the current decoration, and sends it.
  ///
  /// - Throws: ``PipSink/RenderingError`` when the server has refused the last picture or has gone, when the frame
  ///   cannot be converted, or when there is no memory.
  mutating func draw(
    _ sampleBuffer: SampleBuffer, gravity: VideoGravity, _ decoration: any PictureDecoration, in area: PictureRect
  ) throws(RenderingError) {
    try lookUpWhatTheServerHasRead()
    let (image, isSentLast) = try freeImage(of: area.size)
    if isSentLast {
      underlay.restore(on: image.pixels, stride: image.stride)
    } else {
      // The image may still have an older decoration, so it is drawn completely.
      targets[image.segmentID] = nil
    }
    do throws(PipSinkError) {
      targets[image.segmentID] = try canvas.draw(
        sampleBuffer, gravity: gravity, on: image.pixels, stride: image.stride, size: image.size,
        keeping: targets[image.segmentID])
    } catch {
      throw RenderingError(error)
    }
    contents = .picture
    convertedCount += 1
    send(image, decoration, in: area)
  }

  /// Returns a copy of the newest picture without its decoration, or nil when there is none.
  func copy() -> BGRAImage? {
    guard contents == .picture, let image = images.first?.image else { return nil }
    var bytes = image.bytes
    underlay.restore(inCopy: &bytes, width: image.size.width)
    return BGRAImage(size: image.size, opaque: bytes)
  }

  // MARK: - The server

  /// Finds or creates an image of a size that the server does not read, and makes it the first of the images.
  ///
  /// - Returns: the image, and whether it is the one that was sent last.
  private mutating func freeImage(
    of size: PictureSize
  ) throws(RenderingError) -> (image: SharedMemoryImage, isSentLast: Bool) {
    if let newest = images.first, newest.image.size != size { forget() }
    if images.count == Self.most, images.allSatisfy(\.isBusy) {
      // The server is behind. Once it answers, it has read all images.
      connection.synchronize()
      try lookUpWhatTheServerHasRead()
      for index in images.indices { images[index].isBusy = false }
    }
    if let index = images.firstIndex(where: { !$0.isBusy }) {
      let entry = images.remove(at: index)
      images.insert(entry, at: 0)
      return (entry.image, index == 0)
    }
    guard let image = SharedMemoryImage(connection, depth: depth, size: size) else {
      if connection.isBroken { throw connection.loss(of: window) }
      throw RenderingError(.frame(.outOfMemory(byteCount: size.width * size.height * 4)))
    }
    images.insert((image, false), at: 0)
    return (image, false)
  }

  /// Draws the decoration on the first image and sends it to the server.
  private mutating func send(_ image: SharedMemoryImage, _ decoration: any PictureDecoration, in area: PictureRect) {
    underlay.forget()
    underlay.draw(decoration, on: image.pixels, stride: image.stride, in: area, isBlack: contents != .picture)
    image.put(area, into: window, at: (0, 0), graphicsContext(), isReported: true, isChecked: false)
    images[0].isBusy = true
    xcb_flush(connection.pointer)
  }

  /// Handles the events that have arrived on the connection, without waiting, as long as images are busy.
  ///
  /// - Throws: ``PipSink/RenderingError`` when the server has refused a picture or has gone.
  private mutating func lookUpWhatTheServerHasRead() throws(RenderingError) {
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
    if connection.isBroken { throw connection.loss(of: window) }
  }

  private mutating func graphicsContext() -> UInt32 {
    if let context { return context }
    let new = xcb_generate_id(connection.pointer)
    xcb_create_gc(connection.pointer, new, window, 0, nil)
    context = new
    return new
  }
}
