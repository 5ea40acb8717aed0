import CGStreamer
import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport

/// Brightness, contrast, hue and saturation, with GStreamer's `videobalance` as the reference.
@Suite struct ColorBalanceTests {
  static let balances = [
    ColorBalance(brightness: 250), ColorBalance(brightness: -400), ColorBalance(contrast: 600),
    ColorBalance(contrast: -1000), ColorBalance(hue: 300), ColorBalance(hue: -1000), ColorBalance(saturation: 700),
    ColorBalance(saturation: -1000),
    ColorBalance(brightness: -100, contrast: 300, hue: -450, saturation: 400),
  ]

  private func videobalance(_ balance: ColorBalance) -> String {
    func part(_ value: Int, _ neutral: Double) -> Double { Double(value) / 1000 + neutral }
    return "videobalance brightness=\(part(balance.brightness, 0)) contrast=\(part(balance.contrast, 1)) "
      + "hue=\(part(balance.hue, 0)) saturation=\(part(balance.saturation, 1))"
  }

  private func image(
    of pixelBuffer: PixelBuffer, _ balance: ColorBalance = .neutral, size: PictureSize? = nil
  ) throws -> BGRAImage {
    var sampleBuffer = SampleBuffer(pixelBuffer: pixelBuffer)
    sampleBuffer.colorBalance = balance
    return try rendered(sampleBuffer, size: size ?? pixelBuffer.size)
  }

  static let formats: [PixelFormat] = [.i420, .yv12, .nv12, .nv21, .yuy2, .uyvy, .i422, .y444]

  @Test(arguments: formats, balances)
  func aFrameLooksAsIfVideobalanceHadBeenInFrontOfTheSink(format: PixelFormat, balance: ColorBalance) throws {
    let source = try TestFrame.keptPixelBuffer(TestFrame.smoothSource(format, 203, 81))
    // videobalance treats the planes of YV12 like those of I420, and therefore rotates the hue in the opposite
    // direction.
    let known = format == .yv12 ? try TestFrame.keptPixelBuffer(TestFrame.smoothSource(.i420, 203, 81)) : source
    let expected = try image(
      of: TestFrame.pixelBuffer(owning: Oracle.pushed(known, through: videobalance(balance))))
    // A sample that is halfway between two values may be rounded to either of them, and the conversion to RGB doubles
    // this difference.
    #expect(PixelComparison.differ(atMost: 3, try image(of: source, balance).bytes, expected.bytes))
    #expect(!PixelComparison.differ(atMost: 3, try image(of: source).bytes, expected.bytes))
  }

  @Test(arguments: [PixelFormat.bgra, .rgb, .xrgb], balances)
  func anRGBFrameDoes(format: PixelFormat, balance: ColorBalance) throws {
    let source = try TestFrame.keptPixelBuffer(TestFrame.smoothSource(format, 203, 81))
    let expected = try image(
      of: TestFrame.pixelBuffer(owning: Oracle.pushed(source, through: videobalance(balance))))
    let psnr = Oracle.psnr(try image(of: source, balance).bytes, expected.bytes)
    #expect(psnr > 36, "\(psnr) dB")
  }

  @Test(arguments: [PixelFormat.p010, .i420Ten, .gray8])
  func formatsThatVideobalanceDoesNotTakeHaveTheColoursOfThoseThatItDoes(format: PixelFormat) throws {
    let balance = ColorBalance(brightness: 150, contrast: 200, hue: format == .gray8 ? 0 : 300)
    let source = try TestFrame.keptPixelBuffer(TestFrame.smoothSource(format, 202, 82))
    // The values of GRAY8 range from 0 to 255.
    let colors = format == .gray8 ? ",colorimetry=1:4:0:0" : ""
    let plain = try TestFrame.pixelBuffer(
      owning: Oracle.pushed(source, through: "videoconvert dither=none ! video/x-raw,format=Y444\(colors)"))
    let psnr = Oracle.psnr(try image(of: source, balance).bytes, try image(of: plain, balance).bytes)
    #expect(psnr > 36, "\(psnr) dB")
  }

  @Test(arguments: [(90, 40), (640, 300), (203, 300)])
  func theColoursAreThoseOfTheSameFrameAtTheSurfacesSize(width: Int, height: Int) throws {
    let balance = ColorBalance(brightness: 100, contrast: 200, hue: 250, saturation: 200)
    let source = try TestFrame.keptPixelBuffer(TestFrame.smoothSource(.i420, 203, 81))
    let size = PictureSize(width: width, height: height)
    let expected = try image(
      of: TestFrame.pixelBuffer(owning: Oracle.pushed(source, through: videobalance(balance))), size: size)
    let psnr = Oracle.psnr(try image(of: source, balance, size: size).bytes, expected.bytes)
    #expect(psnr > 40, "\(psnr) dB")
  }

  @Test func aNeutralBalanceIsNoStep() throws {
    for format in PixelFormat.allCases {
      var kind = ConversionPlan.Kind(
        sourceFormat: format, sourceSize: PictureSize(width: 64, height: 48), targetFormat: .bgra,
        targetSize: PictureSize(width: 32, height: 24), orientation: .upright, filter: .automatic,
        isSourceAligned: true, isTargetAligned: true)
      func balances() throws -> Int {
        try #require(ConversionPlan(kind)).steps.count { if case .balance = $0.operation { true } else { false } }
      }
      #expect(try balances() == 0)
      kind.balance = ColorBalance(hue: 1)
      #expect(try balances() == 1)
    }
  }

  @Test func itsValuesAreCutToItsRange() {
    let balance = ColorBalance(brightness: 5000, contrast: -5000, hue: -1, saturation: 1)
    #expect(balance.brightness == 1000 && balance.contrast == -1000 && balance.hue == -1 && balance.saturation == 1)
    #expect(ColorBalance(word: balance.word) == balance && !balance.isNeutral && ColorBalance().isNeutral)
  }

  // MARK: - The element

  private func channels(_ harness: ElementHarness) -> [String: UnsafeMutablePointer<GstColorBalanceChannel>] {
    var found: [String: UnsafeMutablePointer<GstColorBalanceChannel>] = [:]
    var next = gst_color_balance_list_channels(OpaquePointer(harness.element))
    while let entry = next {
      let channel = entry.pointee.data.assumingMemoryBound(to: GstColorBalanceChannel.self)
      found[String(cString: channel.pointee.label)] = channel
      next = UnsafePointer(entry.pointee.next)
    }
    return found
  }

  @Test func theElementsChannelsAreItsProperties() throws {
    let harness = try ElementHarness()
    let element = OpaquePointer(harness.element)
    let channels = channels(harness)
    #expect(channels.keys.sorted() == ["BRIGHTNESS", "CONTRAST", "HUE", "SATURATION"])
    #expect(gst_color_balance_get_balance_type(element) == GST_COLOR_BALANCE_HARDWARE)
    for (index, name) in channels.keys.sorted().enumerated() {
      let channel = try #require(channels[name])
      #expect(channel.pointee.min_value == -1000 && channel.pointee.max_value == 1000)
      gst_color_balance_set_value(element, channel, gint(100 + index))
      #expect(harness.value(name.lowercased()) == "\(100 + index)")
      harness.set(name.lowercased(), "\(-index)")
      #expect(gst_color_balance_get_value(element, channel) == gint(-index))
    }
  }

  @Test func whoeverSetsAChannelOthersAreNotifiedOnce() throws {
    let harness = try ElementHarness()
    for (name, channel) in channels(harness) {
      let notifications = ElementPlaybackTests.Notifications(name.lowercased(), of: harness.element)
      gst_color_balance_set_value(OpaquePointer(harness.element), channel, 7)
      #expect(notifications.count.withLock { $0 } == 1, "\(name)")
      harness.set(name.lowercased(), "9")
      #expect(notifications.count.withLock { $0 } == 2, "\(name)")
    }
  }

  @Test func aPictureThatStandsStillChangesItsColours() async throws {
    let harness = try ElementHarness("surface=offscreen sync=false session=\(#function)")
    let source = try TestFrame.sample(TestFrame.smoothSource(.i420, 64, 36))
    #expect(harness.push(source) == GST_FLOW_OK)
    gst_sample_unref(source)
    func shown() -> [UInt8]? { (harness.state.member?.layer.renderer as? OffscreenRenderer)?.image()?.bytes }
    #expect(await eventually { shown() != nil })
    let (plain, received) = (try #require(shown()), harness.received)
    harness.set("saturation", "-1000")
    let isGray = await eventually {
      guard let shown = shown() else { return false }
      return stride(from: 0, to: shown.count, by: 4).allSatisfy { (index: Int) -> Bool in
        let (blue, green, red) = (Int(shown[index]), Int(shown[index + 1]), Int(shown[index + 2]))
        return abs(blue - green) < 4 && abs(blue - red) < 4
      }
    }
    #expect(isGray)
    harness.set("saturation", "0")
    #expect(await eventually { shown() == plain })
    #expect(harness.received == received)
  }
}
