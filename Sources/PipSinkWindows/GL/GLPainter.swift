import CGL
import Glibc
import PipSink

/// Draws frames with OpenGL ES 3 as ``FrameCanvas`` draws them with the processor, and decorations over them.
///
/// The planes of a frame are copied to textures. A program converts them to RGB, at the target's size and in its
/// orientation. Chroma has the target's subsampling, and ten bits are dithered, as on the processor. Programs and
/// textures are kept from frame to frame. They belong to the context, and end with it.
struct GLPainter {
  /// One plane's texture, or one of two for a plane of packed 4:2:2.
  private struct Texture {
    var name: GLuint = 0
    var layout: GLPlaneLayout?
    var size = PictureSize(width: 0, height: 0)
  }

  private let library: GLLibrary
  private var programs: [GLProgram.Kind: GLProgram] = [:]
  private var textures = [Texture](repeating: Texture(), count: 3)
  /// The decoration that was drawn last.
  private var decoration: (layer: DecorationLayer, program: GLProgram, texture: GLuint)?

  init(_ library: GLLibrary) { self.library = library }

  /// Whether a frame can be drawn. Frames with a high dynamic range, interlaced ones, and those with further pictures
  /// over them, such as subtitles, cannot, nor those beyond the limit of the context's textures.
  static func canPaint(_ sampleBuffer: SampleBuffer, textureLimit: Int) -> Bool {
    let size = sampleBuffer.pixelBuffer.visibleRect.size
    return sampleBuffer.isPlain && max(size.width, size.height) <= textureLimit
  }

  /// Draws a frame that ``canPaint(_:textureLimit:)`` allows on the framebuffer of the current context.
  ///
  /// - Parameter size: the framebuffer's size in pixels.
  /// - Throws: ``PipSink/RenderingError`` for an unreadable frame, and where the driver cannot compile the program.
  mutating func paint(_ sampleBuffer: SampleBuffer, gravity: VideoGravity, size: PictureSize) throws(RenderingError) {
    let result: Result<Void, RenderingError>
    do throws(PipSinkError) {
      result = try sampleBuffer.withPicture(for: gravity, in: size) { picture, target in
        Result { () throws(RenderingError) in try paint(picture, sampleBuffer, at: target, size: size) }
      }
    } catch {
      throw RenderingError(error)
    }
    try result.get()
  }

  private mutating func paint(
    _ picture: Picture, _ sampleBuffer: SampleBuffer, at target: PictureRect, size: PictureSize
  ) throws(RenderingError) {
    if target.size != size {
      library.clearColor(0, 0, 0, 1)
      library.clear(GLbitfield(GL_COLOR_BUFFER_BIT))
    }
    let sampling = GLSampling(picture, into: target.size, sampleBuffer.orientation)
    let balance = sampleBuffer.colorBalance
    let layouts = GLPlaneLayout.all(of: picture.format)
    let kind = GLProgram.Kind(
      planes: picture.format.isRGB ? .rgb : [.luma, .pairs, .separate][layouts.count - 1],
      isTenBit: picture.format.isTenBit, mode: sampling.mode, joinsRows: sampling.joinsRows,
      isBalanced: !balance.isNeutral)
    let program = if let kept = programs[kind] { kept } else { try GLProgram(kind, library) }
    programs[kind] = program
    for (index, layout) in layouts.enumerated() { upload(picture.planes[layout.plane], layout, index) }
    program.use()
    // Row 0 of the framebuffer is the lowest one.
    let bottom = size.height - target.y - target.height
    library.viewport(GLint(target.x), GLint(bottom), GLsizei(target.width), GLsizei(target.height))
    let turns: Float = sampleBuffer.orientation.swapsSides ? 1 : 0
    let factor: Float = picture.format.tenBitShift == 0 ? 64 : 1
    program.set("target", [Float(target.x), Float(size.height - target.y - 1), turns, factor])
    let (shift, block) = (sampling.chromaShift, sampling.block)
    program.set("grid", [Float(shift.x), Float(shift.y), Float(block.x), Float(block.y)])
    program.set(
      "places",
      [sampling.luma, sampling.chroma].flatMap { [$0.scale.x, $0.scale.y, $0.offset.x, $0.offset.y] })
    // The processor adjusts the colours of RGB in YUV of BT.601.
    let colorimetry = picture.format.isRGB ? Colorimetry(matrix: .bt601, isFullRange: false) : picture.colorimetry
    program.set("toRGB", colorimetry.rowsToRGB)
    if !balance.isNeutral { program.set("balance", balance.rows) }
    library.drawArrays(GLenum(GL_TRIANGLES), 0, 3)
  }

  /// Draws a decoration over the frame.
  ///
  /// - Parameter size: the framebuffer's size in pixels.
  /// - Throws: ``PipSink/RenderingError`` where the driver cannot compile the program.
  mutating func paint(_ layer: DecorationLayer, size: PictureSize) throws(RenderingError) {
    let rectangle = layer.rectangle
    guard rectangle.size.isValid else { return }
    library.activeTexture(GLenum(GL_TEXTURE0))
    if decoration?.layer !== layer {
      if let decoration { library.deleteTextures(1, [decoration.texture]) }
      let program = if let kept = decoration?.program { kept } else { try GLProgram(forDecorations: library) }
      var texture = GLuint(0)
      makeTexture(&texture, GLPlaneLayout(0, .bytes, [GL_BLUE, GL_GREEN, GL_RED]), rectangle.size)
      library.pixelStore(GLenum(GL_UNPACK_ROW_LENGTH), 0)
      library.pixelStore(GLenum(GL_UNPACK_ALIGNMENT), 4)
      layer.pixels.withUnsafeBytes { bytes in
        library.writeTexture(
          GLenum(GL_TEXTURE_2D), 0, 0, 0, GLsizei(rectangle.width), GLsizei(rectangle.height), GLenum(GL_RGBA),
          GLenum(GL_UNSIGNED_BYTE), bytes.baseAddress)
      }
      decoration = (layer, program, texture)
    }
    guard let decoration else { return }
    library.bindTexture(GLenum(GL_TEXTURE_2D), decoration.texture)
    decoration.program.use()
    let bottom = size.height - rectangle.y - rectangle.height
    library.viewport(GLint(rectangle.x), GLint(bottom), GLsizei(rectangle.width), GLsizei(rectangle.height))
    decoration.program.set("target", [Float(rectangle.x), Float(size.height - rectangle.y - 1), 0, 0])
    library.enable(GLenum(GL_BLEND))
    library.blendFunction(GLenum(GL_ONE), GLenum(GL_ONE_MINUS_SRC_ALPHA))
    library.drawArrays(GLenum(GL_TRIANGLES), 0, 3)
    library.disable(GLenum(GL_BLEND))
  }

  /// Makes a texture, and binds it.
  private func makeTexture(_ name: inout GLuint, _ layout: GLPlaneLayout, _ size: PictureSize) {
    let kind = GLenum(GL_TEXTURE_2D)
    library.makeTextures(1, &name)
    library.bindTexture(kind, name)
    library.allocateTexture(kind, 1, GLenum(layout.texel.internal), GLsizei(size.width), GLsizei(size.height))
    let filter = layout.texel.type == GL_UNSIGNED_BYTE ? GL_LINEAR : GL_NEAREST
    for (parameter, value) in [
      (GL_TEXTURE_MIN_FILTER, filter), (GL_TEXTURE_MAG_FILTER, filter), (GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE),
      (GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE), (GL_TEXTURE_SWIZZLE_R, layout.order[0]),
      (GL_TEXTURE_SWIZZLE_G, layout.order[1]), (GL_TEXTURE_SWIZZLE_B, layout.order[2]),
    ] {
      library.textureParameter(kind, GLenum(parameter), value)
    }
  }

  /// Copies a plane to a texture, which is made anew where it has another size or layout.
  private mutating func upload(_ plane: Picture.Plane, _ layout: GLPlaneLayout, _ index: Int) {
    let size = PictureSize(width: (Int(plane.width) + layout.shift) >> layout.shift, height: Int(plane.height))
    library.activeTexture(GLenum(GL_TEXTURE0 + Int32(index)))
    let (kind, texel) = (GLenum(GL_TEXTURE_2D), layout.texel)
    if textures[index].size != size || textures[index].layout != layout {
      library.deleteTextures(1, [textures[index].name])
      textures[index] = Texture(layout: layout, size: size)
      makeTexture(&textures[index].name, layout, size)
    } else {
      library.bindTexture(kind, textures[index].name)
    }
    let write = { [library] (first: Int, count: Int) in
      library.writeTexture(
        kind, 0, 0, GLint(first), GLsizei(size.width), GLsizei(count), GLenum(texel.format), GLenum(texel.type),
        plane.row(Int32(first)))
    }
    let (rowLength, stride) = (Int(plane.stride) / texel.byteCount, Int(plane.stride))
    // Rows begin at multiples of the alignment, from one row's length to the next.
    let alignment = [1, 2, 4, 8].first { (rowLength * texel.byteCount + $0 - 1) / $0 * $0 == stride }
    if let alignment, rowLength >= size.width {
      library.pixelStore(GLenum(GL_UNPACK_ROW_LENGTH), GLint(rowLength))
      library.pixelStore(GLenum(GL_UNPACK_ALIGNMENT), GLint(alignment))
      write(0, size.height)
    } else {
      // OpenGL has no word for such rows, for instance those that are stored from the last to the first.
      library.pixelStore(GLenum(GL_UNPACK_ROW_LENGTH), 0)
      library.pixelStore(GLenum(GL_UNPACK_ALIGNMENT), 1)
      for row in 0..<size.height { write(row, 1) }
    }
  }
}

/// How a plane is a texture.
private struct GLPlaneLayout: Equatable {
  /// The values of a texel: OpenGL's names of the texel in the texture, of its components and of the values in the
  /// frame, and the number of bytes in the frame.
  struct Texel: Equatable {
    let `internal`, format, type: Int32
    let byteCount: Int

    static let byte = Texel(internal: GL_R8, format: GL_RED, type: GL_UNSIGNED_BYTE, byteCount: 1)
    static let bytePair = Texel(internal: GL_RG8, format: GL_RG, type: GL_UNSIGNED_BYTE, byteCount: 2)
    static let byteTriple = Texel(internal: GL_RGB8, format: GL_RGB, type: GL_UNSIGNED_BYTE, byteCount: 3)
    static let bytes = Texel(internal: GL_RGBA8, format: GL_RGBA, type: GL_UNSIGNED_BYTE, byteCount: 4)
    static let word = Texel(internal: GL_R16UI, format: GL_RED_INTEGER, type: GL_UNSIGNED_SHORT, byteCount: 2)
    static let wordPair = Texel(internal: GL_RG16UI, format: GL_RG_INTEGER, type: GL_UNSIGNED_SHORT, byteCount: 4)
    static let words = Texel(internal: GL_RGBA16UI, format: GL_RGBA_INTEGER, type: GL_UNSIGNED_SHORT, byteCount: 8)
  }

  let plane: Int
  let texel: Texel
  /// Which components of a texel are its values.
  let order: [Int32]
  /// By how many bits a pixel's column is shifted right for that of its texel.
  let shift: Int

  init(_ plane: Int, _ texel: Texel, _ order: [Int32] = [GL_RED, GL_GREEN, GL_BLUE], shift: Int = 0) {
    (self.plane, self.texel, self.order, self.shift) = (plane, texel, order, shift)
  }

  /// The textures of a format. In packed 4:2:2, the same plane is one of pixels, from which luma is taken, and one of
  /// pairs of pixels, from which chroma is taken.
  static func all(of format: PixelFormat) -> [GLPlaneLayout] {
    switch format {
    case .i420, .yv12, .i422, .y444: [Self(0, .byte), Self(1, .byte), Self(2, .byte)]
    case .gray8: [Self(0, .byte)]
    case .nv12: [Self(0, .byte), Self(1, .bytePair)]
    case .nv21: [Self(0, .byte), Self(1, .bytePair, [GL_GREEN, GL_RED, GL_ZERO])]
    case .yuy2: [Self(0, .bytePair), Self(0, .bytes, [GL_GREEN, GL_ALPHA, GL_ZERO], shift: 1)]
    case .uyvy:
      [Self(0, .bytePair, [GL_GREEN, GL_RED, GL_ZERO]), Self(0, .bytes, [GL_RED, GL_BLUE, GL_ZERO], shift: 1)]
    case .bgra, .bgrx: [Self(0, .bytes, [GL_BLUE, GL_GREEN, GL_RED])]
    case .rgba, .rgbx: [Self(0, .bytes)]
    case .argb, .xrgb: [Self(0, .bytes, [GL_GREEN, GL_BLUE, GL_ALPHA])]
    case .rgb: [Self(0, .byteTriple)]
    case .bgr: [Self(0, .byteTriple, [GL_BLUE, GL_GREEN, GL_RED])]
    case .p010: [Self(0, .word), Self(1, .wordPair)]
    case .i420Ten, .i422Ten: [Self(0, .word), Self(1, .word), Self(2, .word)]
    case .y210: [Self(0, .wordPair), Self(0, .words, [GL_GREEN, GL_ALPHA, GL_ZERO], shift: 1)]
    }
  }
}

extension Colorimetry {
  /// Three rows of four numbers, with which Y, U, V and 1 are multiplied for red, green and blue, all from 0 to 255.
  fileprivate var rowsToRGB: [Float] {
    let (red, blue) = matrix.lumaWeights
    let green = 1 - red - blue
    let luma = isFullRange ? 1 : 255.0 / 219
    let chroma = isFullRange ? 1 : 255.0 / 224
    let (u, v) = (2 * (1 - blue) * chroma, 2 * (1 - red) * chroma)
    let columns: [(u: Double, v: Double)] = [(0, v), (-u * blue / green, -v * red / green), (u, 0)]
    return columns.flatMap { row in
      [luma, row.u, row.v, -128 * (row.u + row.v) - (isFullRange ? 0 : 16 * luma)].map { Float($0) }
    }
  }
}

extension ColorBalance {
  /// Three rows of four numbers, with which Y, U, V and 1 are multiplied for the adjusted values.
  fileprivate var rows: [Float] {
    let (contrast, saturation) = (Double(contrast) / 1000 + 1, Double(saturation) / 1000 + 1)
    let hue = Double(hue) / 1000 * .pi
    let (cosine, sine) = (cos(hue) * saturation, sin(hue) * saturation)
    return [
      contrast, 0, 0, 16 - 16 * contrast + Double(brightness) / 1000 * 255, 0, cosine, sine,
      128 - 128 * (cosine + sine), 0, -sine, cosine, 128 - 128 * (cosine - sine),
    ].map { Float($0) }
  }
}
