import CGStreamer
import PipSink
import PipSinkWindows

/// What an application draws over the pictures of picture-in-picture: a GstVideoOverlayComposition, whose coordinates are
/// pixels of the window.
///
/// `@unchecked Sendable`: nothing changes a composition that others refer to.
final class ElementOverlay: @unchecked Sendable {
  /// The `GstVideoOverlayComposition`.
  let composition: OpaquePointer

  /// - Parameter composition: a `GstVideoOverlayComposition`, of which a reference is kept.
  init(_ composition: UnsafeMutableRawPointer) {
    self.composition = OpaquePointer(composition)
    gst_mini_object_ref(composition.assumingMemoryBound(to: GstMiniObject.self))
  }

  deinit { gst_mini_object_unref(UnsafeMutableRawPointer(composition).assumingMemoryBound(to: GstMiniObject.self)) }

  /// Makes the content of the window. A press on one of the overlay's pictures is the application's.
  ///
  /// - Parameter member: tells its application of what the pointer does there.
  @MainActor
  func makeContent(for member: SessionMember) -> PictureInPictureContent {
    PictureInPictureContent(OverlayComposition.images(of: composition)) { [weak member] event, isOnImage in
      switch event {
      case .moved, .scrolled: if isOnImage { member?.note(event) }
      case .pressed:
        guard isOnImage else { return false }
        member?.note(event)
        return true
      case .released, .left: member?.note(event)
      }
      return false
    }
  }
}
