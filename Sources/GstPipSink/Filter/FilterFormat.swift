import CGStreamer
import PipSink

/// What a filter's processors make of caps.
struct FilterFormat: Sendable {
  /// Of the processors, first to last.
  var effects: [FrameEffect] = []
  /// By the stream's tag.
  var orientation = VideoOrientation.upright
  /// What frames of a format have become, where that is not what the effects say: a frame's meta has another orientation,
  /// or a processor says nothing of what it does.
  var learned: (input: VideoFormatDescription, output: VideoFormatDescription)?

  /// - Parameters:
  ///   - caps: of one of the element's pads.
  ///   - direction: that pad's.
  /// - Returns: what the other pad can have then; owned by the caller.
  func transform(
    _ caps: UnsafeMutablePointer<GstCaps>, from direction: GstPadDirection
  ) -> UnsafeMutablePointer<GstCaps>? {
    let isIdentity = effects.allSatisfy { $0 == .none } && learned == nil
    guard !isIdentity, gst_caps_is_any(caps) == 0 else { return gst_caps_ref(caps) }
    if direction == GST_PAD_SINK, gst_caps_is_fixed(caps) != 0 { return output(of: caps) ?? gst_caps_new_empty() }
    let result = gst_caps_new_empty()
    var steps: [(FrameEffect, swapsSides: Bool)] = []
    var orientation = orientation
    for effect in effects {
      steps.append((effect, effect.swapsSides(of: orientation)))
      if effect.turn == .automatic { orientation = .upright }
    }
    for index in 0..<gst_caps_get_size(caps) {
      guard let structure = gst_structure_copy(gst_caps_get_structure(caps, index)) else { continue }
      let fields = CapsFields(structure)
      let isPossible =
        direction == GST_PAD_SINK
        ? steps.allSatisfy { fields.carryOut($0, swapsSides: $1) }
        : steps.reversed().allSatisfy { fields.takeBack($0, swapsSides: $1) }
      if isPossible {
        gst_caps_append_structure_full(result, structure, gst_caps_features_copy(gst_caps_get_features(caps, index)))
      } else {
        gst_structure_free(structure)
      }
    }
    return result
  }

  /// The caps of what becomes of frames whose caps are known: theirs, apart from what changes.
  private func output(of caps: UnsafeMutablePointer<GstCaps>) -> UnsafeMutablePointer<GstCaps>? {
    guard let input = try? VideoFormatDescription.shared(for: caps), let output = try? output(of: input),
      let result = gst_caps_copy(caps)
    else { return nil }
    let fields = CapsFields(gst_caps_get_structure(result, 0))
    if !output.looksLike(input) { fields.takePicture(of: output) }
    for effect in effects { fields.thinOut(effect) }
    return result
  }

  /// The format of what becomes of frames, apart from their rate.
  func output(of input: VideoFormatDescription) throws(PipSinkError) -> VideoFormatDescription {
    if let learned, learned.input === input { return learned.output }
    var (format, orientation) = (input, orientation)
    for effect in effects { format = try effect.applied(to: format, orientation: &orientation) }
    return format
  }
}

/// The fields of one of the alternatives of caps for raw video.
private struct CapsFields {
  private let structure: UnsafeMutablePointer<GstStructure>

  init(_ structure: UnsafeMutablePointer<GstStructure>) {
    self.structure = structure
  }

  /// Makes the fields those of what becomes of frames.
  ///
  /// - Returns: false where there are no such frames.
  func carryOut(_ effect: FrameEffect, swapsSides: Bool) -> Bool {
    if swapsSides {
      exchangeSides()
      set("interlace-mode", to: "progressive")
      remove("field-order")
    }
    thinOut(effect)
    guard let format = effect.pixelFormat else { return true }
    guard takes(format.sources, as: "format") else { return false }
    set("format", to: format.rawValue)
    removeColors()
    return true
  }

  /// Makes the fields those of frames that lead to them.
  ///
  /// - Returns: false where there are no such frames.
  func takeBack(_ effect: FrameEffect, swapsSides: Bool) -> Bool {
    if let format = effect.pixelFormat {
      guard takes([format], as: "format") else { return false }
      // What needs no conversion comes first.
      set("format", to: "{ \(format.sources.map(\.rawValue).joined(separator: ", ")) }", gst_value_list_get_type())
      removeColors()
    }
    if effect.maximumRate != nil { remove("framerate") }
    changeRate { numerator, denominator in
      let product = numerator.multipliedReportingOverflow(by: gint(clamping: effect.interval))
      return product.overflow ? nil : (product.partialValue, denominator)
    }
    guard swapsSides else { return true }
    guard hasText("progressive", in: "interlace-mode") else { return false }
    exchangeSides()
    for field in ["interlace-mode", "field-order"] { remove(field) }
    return true
  }

  /// Of one format with another picture than theirs.
  func takePicture(of format: VideoFormatDescription) {
    guard let other = gst_caps_get_structure(format.caps, 0) else { return }
    for field in [
      "format", "width", "height", "pixel-aspect-ratio", "interlace-mode", "field-order", "colorimetry", "chroma-site",
    ] {
      if let value = gst_structure_get_value(other, field) {
        gst_structure_set_value(structure, field, value)
      } else {
        remove(field)
      }
    }
  }

  /// Makes the rate that of the frames that are let through.
  func thinOut(_ effect: FrameEffect) {
    changeRate { numerator, denominator in
      let product = denominator.multipliedReportingOverflow(by: gint(clamping: effect.interval))
      return product.overflow ? nil : (numerator, product.partialValue)
    }
    guard let limit = effect.maximumRate else { return }
    changeRate { numerator, denominator in
      guard Double(numerator) / Double(denominator) > limit else { return nil }
      var rate: (gint, gint) = (0, 1)
      gst_util_double_to_fraction(limit, &rate.0, &rate.1)
      return rate
    }
  }

  // MARK: - Fields

  private func remove(_ field: String) { gst_structure_remove_field(structure, field) }

  private func removeColors() {
    for field in ["colorimetry", "chroma-site"] { remove(field) }
  }

  /// - Parameter type: of the value, which is written as GStreamer writes it.
  private func set(_ field: String, to text: String, _ type: GType = GType(16 << 2)) {
    var value = GValue()
    g_value_init(&value, type)
    gst_value_deserialize(&value, text)
    gst_structure_take_value(structure, field, &value)
  }

  /// Whether one of the formats may be the field's value.
  private func takes(_ formats: [PixelFormat], as field: String) -> Bool {
    formats.contains { hasText($0.rawValue, in: field) }
  }

  /// Whether the field may have the text as its value, as it may where it is not there.
  private func hasText(_ text: String, in field: String) -> Bool {
    guard let value = gst_structure_get_value(structure, field) else { return true }
    var wanted = GValue()
    g_value_init(&wanted, GType(16 << 2))
    defer { g_value_unset(&wanted) }
    g_value_set_string(&wanted, text)
    return gst_value_can_intersect(value, &wanted) != 0
  }

  /// Width and height change places, and pixels that were wide are high.
  private func exchangeSides() {
    var sides = ["width", "height"].map { field in
      var copy = GValue()
      if let value = gst_structure_get_value(structure, field) {
        g_value_init(&copy, value.pointee.g_type)
        g_value_copy(value, &copy)
      }
      return copy
    }
    for (index, field) in ["height", "width"].enumerated() {
      if sides[index].g_type == 0 { remove(field) } else { gst_structure_take_value(structure, field, &sides[index]) }
    }
    change("pixel-aspect-ratio") { ($1, $0) }
  }

  /// - Parameter change: of a rate that is known; nil where it stays.
  private func changeRate(_ change: (gint, gint) -> (gint, gint)?) {
    self.change("framerate") { numerator, denominator in numerator > 0 ? change(numerator, denominator) : nil }
  }

  /// Changes a fraction. Several that are possible become any.
  private func change(_ field: String, _ change: (gint, gint) -> (gint, gint)?) {
    guard let old = gst_structure_get_value(structure, field) else { return }
    guard old.pointee.g_type == gst_fraction_get_type() else { return remove(field) }
    guard let new = change(gst_value_get_fraction_numerator(old), gst_value_get_fraction_denominator(old)) else {
      return
    }
    var value = GValue()
    g_value_init(&value, gst_fraction_get_type())
    gst_value_set_fraction(&value, new.0, new.1)
    gst_structure_take_value(structure, field, &value)
  }
}

extension PixelFormat {
  /// The formats that frames of this one can be made of, itself first. Ten bits are made of nothing else.
  fileprivate var sources: [PixelFormat] { isTenBit ? [self] : [self] + Self.allCases.filter { $0 != self } }
}
