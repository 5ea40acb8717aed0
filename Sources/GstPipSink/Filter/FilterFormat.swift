import CGStreamer
import PipSink

/// How a filter's processors change caps.
struct FilterFormat: Sendable {
  /// The effects of the processors, from the first to the last.
  var effects: [FrameEffect] = []
  /// The orientation that the stream's tag says.
  var orientation = VideoOrientation.upright
  /// The format that frames of an input format really got, where the effects say something else: a frame's meta has
  /// another orientation, or a processor does not declare its effect.
  var learned: (input: VideoFormatDescription, output: VideoFormatDescription)?

  /// - Parameters:
  ///   - caps: caps of one of the element's pads.
  ///   - direction: the direction of that pad.
  /// - Returns: the caps that the other pad can have then. The caller owns them.
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
      if effect.orientationChange == .automatic { orientation = .upright }
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

  /// The output caps for fixed input caps: a copy of the input caps in which only the changed fields differ.
  private func output(of caps: UnsafeMutablePointer<GstCaps>) -> UnsafeMutablePointer<GstCaps>? {
    guard let input = try? VideoFormatDescription.shared(for: caps), let output = try? output(of: input),
      let result = gst_caps_copy(caps)
    else { return nil }
    let fields = CapsFields(gst_caps_get_structure(result, 0))
    if !output.looksLike(input) { fields.takePicture(of: output) }
    for effect in effects { fields.thinOut(effect) }
    return result
  }

  /// The output format for an input format, apart from the frame rate.
  func output(of input: VideoFormatDescription) throws(PipSinkError) -> VideoFormatDescription {
    if let learned, learned.input === input { return learned.output }
    var (format, orientation) = (input, orientation)
    for effect in effects { format = try effect.applied(to: format, orientation: &orientation) }
    return format
  }
}

/// The fields of one structure of caps for raw video.
private struct CapsFields {
  private let structure: UnsafeMutablePointer<GstStructure>

  init(_ structure: UnsafeMutablePointer<GstStructure>) {
    self.structure = structure
  }

  /// Changes the fields from those of input frames to those of output frames.
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

  /// Changes the fields from those of output frames to those of the input frames that can become such frames.
  ///
  /// - Returns: false where there are no such frames.
  func takeBack(_ effect: FrameEffect, swapsSides: Bool) -> Bool {
    if let format = effect.pixelFormat {
      guard takes([format], as: "format") else { return false }
      // The format that needs no conversion comes first.
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

  /// Takes over all fields that describe the picture from a format.
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

  /// Changes the frame rate to that of the frames that the processor lets through.
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

  /// - Parameter type: the type of the value, whose text has GStreamer's serialized form.
  private func set(_ field: String, to text: String, _ type: GType = PIPSINK_TYPE_STRING) {
    var value = GValue()
    g_value_init(&value, type)
    gst_value_deserialize(&value, text)
    gst_structure_take_value(structure, field, &value)
  }

  /// Whether the field may have one of the formats as its value.
  private func takes(_ formats: [PixelFormat], as field: String) -> Bool {
    formats.contains { hasText($0.rawValue, in: field) }
  }

  /// Whether the field may have the text as its value. A field that is absent may have any value.
  private func hasText(_ text: String, in field: String) -> Bool {
    guard let value = gst_structure_get_value(structure, field) else { return true }
    var wanted = GValue()
    g_value_init(&wanted, PIPSINK_TYPE_STRING)
    defer { g_value_unset(&wanted) }
    g_value_set_string(&wanted, text)
    return gst_value_can_intersect(value, &wanted) != 0
  }

  /// Exchanges width and height, and inverts the pixel aspect ratio.
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

  /// - Parameter change: returns the new rate for a known rate; nil to keep it.
  private func changeRate(_ change: (gint, gint) -> (gint, gint)?) {
    self.change("framerate") { numerator, denominator in numerator > 0 ? change(numerator, denominator) : nil }
  }

  /// Changes a field with one fraction. A field with several possible fractions is removed, so that any is possible.
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
  /// The formats that can be converted to this one, with itself first. Ten-bit formats can only be made from
  /// themselves.
  fileprivate var sources: [PixelFormat] { isTenBit ? [self] : [self] + Self.allCases.filter { $0 != self } }
}
