import CGL
import PipSink

/// A program for one kind of frame, which converts its samples to RGB at each pixel of the target.
struct GLProgram {
  /// What the program depends on.
  struct Kind: Hashable {
    /// The planes of a pixel's values: RGB in one, luma alone, or luma with chroma in one or two further planes.
    enum Planes: String { case rgb, luma, pairs, separate }
    let planes: Planes
    /// Whether samples have ten bits, in words.
    let isTenBit: Bool
    let mode: GLSampling.Mode
    /// Whether the chroma of each two rows is averaged.
    let joinsRows: Bool
    let isBalanced: Bool
  }

  private let library: GLLibrary
  private let program: GLuint

  /// Compiles a program.
  ///
  /// - Throws: ``PipSink/RenderingError``, after which the layer has the renderer rebuilt.
  init(_ kind: Kind, _ library: GLLibrary) throws(RenderingError) {
    let defines = [
      "PLANES_\(kind.planes.rawValue)", "MODE_\(kind.mode.rawValue)", kind.isTenBit ? "WORDS" : "BYTES",
      "JOINED \(kind.joinsRows)", kind.isBalanced ? "BALANCED" : "NEUTRAL",
    ]
    try self.init(Self.fragments, defines, library)
  }

  /// Compiles the program that draws decorations.
  ///
  /// - Throws: as for a frame.
  init(forDecorations library: GLLibrary) throws(RenderingError) { try self.init(Self.decoration, [], library) }

  private init(_ fragments: String, _ defines: [String], _ library: GLLibrary) throws(RenderingError) {
    self.library = library
    program = library.makeProgram()
    let head = "#version 300 es\n" + defines.map { "#define \($0)\n" }.joined()
    for (type, source) in [(GL_VERTEX_SHADER, Self.vertices), (GL_FRAGMENT_SHADER, fragments)] {
      let shader = library.makeShader(GLenum(type))
      (head + source).withCString { text in library.shaderSource(shader, 1, [text], nil) }
      library.compileShader(shader)
      library.attachShader(program, shader)
      // It is deleted with the program.
      library.deleteShader(shader)
    }
    library.linkProgram(program)
    var isLinked: GLint = 0
    library.programValue(program, GLenum(GL_LINK_STATUS), &isLinked)
    guard isLinked != 0 else {
      throw GLContext.loss("the driver cannot compile a program (\(defines.joined(separator: ", ")))")
    }
    use()
    library.setIntegers(library.uniformLocation(program, "planes"), 3, [0, 1, 2])
  }

  /// Makes the program the one that is drawn with.
  func use() { library.useProgram(program) }

  /// Sets vectors of four numbers each, while the program is used.
  func set(_ name: String, _ vectors: [Float]) {
    library.setVectors(library.uniformLocation(program, name), GLsizei(vectors.count / 4), vectors)
  }

  /// One triangle that covers the viewport.
  private static let vertices = """
    void main() {
      vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
      gl_Position = vec4(corner, 0.0, 1.0);
    }
    """

  private static let decoration = """
    precision highp float;
    uniform highp sampler2D planes[3];
    // The column of the decoration's left edge, and the row of its upper edge from below.
    uniform vec4 target;
    out vec4 color;

    void main() {
      color = texelFetch(planes[0], ivec2(gl_FragCoord.x - target.x, target.y - gl_FragCoord.y + 1.0), 0);
    }
    """

  // All values are in units of an eight-bit sample, from 0 to 255.
  private static let fragments = """
    precision highp float;
    precision highp int;
    #ifdef WORDS
    #define PLANE highp usampler2D
    #else
    #define PLANE highp sampler2D
    #endif
    // The planes, in the order of GLPainter's textures.
    uniform PLANE planes[3];
    // The column of the target's left edge, the row of its upper edge from below, whether rows become columns, and by
    // what words are multiplied.
    uniform vec4 target;
    // The shift from pixels to chroma, and the size of a block.
    uniform vec4 grid;
    #define SHIFT ivec2(grid.xy)
    #define BLOCK ivec2(grid.zw)
    // Scale and offset of places: of luma or RGB, and of chroma.
    uniform vec4 places[2];
    // Three rows each. The fourth column is added.
    uniform vec4 toRGB[3];
    uniform vec4 balance[3];
    out vec4 color;

    // The samples of a block, or of several, on average.
    vec4 average(PLANE plane, ivec2 low, ivec2 high) {
      ivec2 size = textureSize(plane, 0);
      low = min(low, size - 1);
      high = min(high, size);
      vec4 sum = vec4(0.0);
      for (int y = low.y; y < high.y; y++)
        for (int x = low.x; x < high.x; x++) sum += vec4(texelFetch(plane, ivec2(x, y), 0));
      return sum / float((high.x - low.x) * (high.y - low.y));
    }

    vec4 block(PLANE plane, ivec2 index) {
      index = clamp(index, ivec2(0), (textureSize(plane, 0) - 1) / BLOCK);
      return average(plane, index * BLOCK, index * BLOCK + BLOCK);
    }

    // The value at a place in the plane, for a pixel that covers `extent` blocks.
    vec4 value(PLANE plane, vec2 place, vec2 extent) {
    #if defined(MODE_nearest)
      return vec4(texelFetch(plane, min(ivec2(place + 0.5), textureSize(plane, 0) - 1), 0));
    #elif defined(MODE_linear)
      return vec4(texture(plane, (place + 0.5) / vec2(textureSize(plane, 0))));
    #elif defined(MODE_box)
      // Sums of floating-point numbers may be a little less than the whole number that they should be.
      ivec2 low = ivec2(place + 0.001);
      ivec2 high = max(ivec2(place + extent + 0.001), low + 1);
      return average(plane, low * BLOCK, high * BLOCK);
    #else
      vec2 whole = floor(place);
      ivec2 first = ivec2(whole);
      vec2 part = place - whole;
      return mix(
        mix(block(plane, first), block(plane, first + ivec2(1, 0)), part.x),
        mix(block(plane, first + ivec2(0, 1)), block(plane, first + 1), part.x), part.y);
    #endif
    }

    // The value of a pixel, or of the chroma of several.
    vec4 samples(PLANE plane, ivec2 pixel, vec4 places, bool joinsRows) {
      vec2 place = vec2(target.z != 0.0 ? pixel.yx : pixel) * places.xy + places.zw;
      vec2 extent = abs(places.xy);
      vec4 result;
      if (joinsRows) {
        extent.y *= 0.5;
        result = (value(plane, place, extent) + value(plane, place + vec2(0.0, extent.y), extent)) * 0.5;
      } else {
        result = value(plane, place, extent);
      }
    #ifdef WORDS
      // The pattern of OrderedDither.
      int threshold = 2;
      for (int bit = 0; bit < 3; bit++) {
        ivec2 at = pixel >> bit & 1;
        threshold |= ((at.x ^ at.y) << 1 | at.y) << (6 - 2 * bit);
      }
      return min(floor((floor(result + 0.5) * target.w + float(threshold)) / 256.0), 255.0);
    #else
      return result * 255.0;
    #endif
    }

    vec3 multiplied(vec4 rows[3], vec3 value) {
      vec4 column = vec4(value, 1.0);
      return vec3(dot(rows[0], column), dot(rows[1], column), dot(rows[2], column));
    }

    void main() {
      ivec2 pixel = abs(ivec2(gl_FragCoord.xy) - ivec2(target.xy));
      vec3 value = vec3(128.0);
    #ifdef PLANES_rgb
      value = samples(planes[0], pixel, places[0], false).rgb;
    #ifdef BALANCED
      value = vec3(dot(value, vec3(66.0, 129.0, 25.0)), dot(value, vec3(-38.0, -74.0, 112.0)),
        dot(value, vec3(112.0, -94.0, -18.0))) / 256.0 + vec3(16.0, 128.0, 128.0);
    #endif
    #else
      value.x = samples(planes[0], pixel, places[0], false).r;
    #endif
    #ifdef PLANES_pairs
      value.yz = samples(planes[1], pixel >> SHIFT, places[1], JOINED).rg;
    #endif
    #ifdef PLANES_separate
      value.y = samples(planes[1], pixel >> SHIFT, places[1], JOINED).r;
      value.z = samples(planes[2], pixel >> SHIFT, places[1], JOINED).r;
    #endif
    #ifdef BALANCED
      value = clamp(floor(multiplied(balance, floor(value + 0.5)) + 0.5), 0.0, 255.0);
    #endif
    #if !defined(PLANES_rgb) || defined(BALANCED)
      value = multiplied(toRGB, value);
    #endif
      color = vec4(value / 255.0, 1.0);
    }
    """
}
