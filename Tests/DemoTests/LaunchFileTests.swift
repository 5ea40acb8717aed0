import CGStreamer
import Foundation
import Testing

@testable import PipSink
@testable import PipSinkCommandLine
@testable import TestSupport
@testable import pipsink_demo

/// Tests of values that are filled into pipeline files. GStreamer's own parser decides what is right.
@Suite struct LaunchFileTests {
  /// A place in a description where a value may be. The location of the element "x" receives it.
  struct Place: CustomTestStringConvertible, Sendable {
    let source: String
    /// The texts before and behind the value in the property.
    var prefix = ""
    var suffix = ""

    var testDescription: String { source }
  }

  static let places = [
    Place(source: #"filesrc name=x location="${V}" ! fakesink name="y""#),
    Place(source: "filesrc name=x location=${V} ! fakesink name=\"y\""),
    Place(source: "filesrc location = ${V}  name=\"x\" ! fakesink"),
    Place(source: #"filesrc name=x location="/a b/${V}/\"c\"" ! fakesink"#, prefix: "/a b/", suffix: "/\"c\""),
    Place(source: "filesrc name=x location=/a${V}b ! fakesink name=\"y\"", prefix: "/a", suffix: "b"),
    Place(source: #"filesrc name=x location='${V}' ! fakesink name='y'"#, prefix: "'", suffix: "'"),
    Place(source: "filesrc name=x location=\"a\n${V}\" ! fakesink", prefix: "a\n"),
    Place(source: "( filesrc name=x location=${V} ! fakesink name=\"y\" )"),
    Place(source: "fakesrc ! video/x-raw,format=I420,width=3 ! fakesink filesrc name=x location=${V} ! fakesink"),
    Place(source: #"filesrc name=x location="${V}${W}" ! fakesink"#, suffix: "\""),
    Place(source: #"filesrc name=x location="\"${V}\"" ! fakesink name="y""#),
    Place(source: "filesrc name=x location=${V}"),
    Place(source: "filesrc name=x location=${V}\r\n! fakesink name=\"y\"\r\n"),
  ]

  static let values = [
    "plain", "", "a b", "a ! fakesink", "\" ! fakesink name=z location=\"", "'", "\"", "\"\"", "\"a\"", "\\", "\\\\",
    "a\\",
    "\\\"", "\"\\", "a\nb", "a\r\nb", "\t", " ", "NULL", "\"\u{301} ! fakesink ! \"\u{301}", "e\u{301}", "é", "\u{301}",
    "video/x-raw, width=(int)3; audio/x-raw(memory:X)", "a;b", "(", ")", "{", "}", "x.", ".y", "!", ":", "=", "${V}",
    "#",
    "\\n", "\\041", "%s", "\u{1F469}\u{200D}\u{1F4BB}", "\u{FEFF}", "\u{85}", "\u{2028}", "a\u{B}b\u{C}",
  ]

  private func fill(_ source: String, _ value: String) throws -> String {
    try LaunchFile(source: source, name: "test", environment: ["V": value, "W": "\""]).text
  }

  /// The number of elements that GStreamer makes of a description, and the location of the element "x".
  private func parsed(_ text: String, sourceLocation: StaticString = #function) throws -> (
    count: Int, location: String?
  ) {
    let element = try PipelineParser.parse(.text(text))
    defer { gst_object_unref(element) }
    let all: [GstElementPointer] = collectObjects(gst_bin_iterate_recurse(element.asBin), as: GstElement.self)
    defer { for element in all { gst_object_unref(element) } }
    let source = try #require(gst_bin_get_by_name(element.asBin, "x"), "\(text)")
    defer { gst_object_unref(source) }
    var value = GValue()
    g_object_get_property(UnsafeMutableRawPointer(source).assumingMemoryBound(to: GObject.self), "location", &value)
    defer { g_value_unset(&value) }
    return (all.count, g_value_get_string(&value).map { String(cString: $0) })
  }

  private func check(_ place: Place, _ value: String) throws {
    let usual = try parsed(try fill(place.source, "plain"))
    let text = try fill(place.source, value)
    let found = try parsed(text)
    #expect(found.count == usual.count, "\(value.debugDescription) in \(text)")
    let expected = place.prefix + value + place.suffix
    #expect(
      Array((found.location ?? "(none)").utf8) == Array(expected.utf8), "\(value.debugDescription) in \(text)")
  }

  @Test(arguments: places) func aValueIsWhatTheElementHasWhateverIsInIt(place: Place) throws {
    for value in Self.values { try check(place, value) }
  }

  /// Tries a hundred random values of significant characters. The environment variable `PIPSINK_TRIES` sets another
  /// number.
  @Test func valuesAtRandomAreWhatTheElementHas() throws {
    var random = SeededGenerator(seed: 7)
    let parts = [
      "\"", "'", "\\", "!", " ", "\n", "\r", "\t", ";", ",", "=", ":", ".", "(", ")", "a", "1", "\u{301}", "/", "//",
      "NULL",
      "name=z", "fakesink", "#", "${", "}", "{", "\u{1F600}",
    ]
    let tries = ProcessInfo.processInfo.environment["PIPSINK_TRIES"].flatMap(Int.init) ?? 100
    for _ in 0..<tries {
      let value = (0..<Int.random(in: 0...9, using: &random)).map { _ in parts.randomElement(using: &random)! }.joined()
      try check(Self.places.randomElement(using: &random)!, value)
    }
  }

  @Test func aNameCanBeAnElementsAReferencesOrAPartOfCaps() throws {
    let element = try fill("${V} name=x ! fakesink", "filesrc")
    #expect(element == "filesrc name=x ! fakesink")
    #expect(try parsed(element).count == 2)
    #expect(try fill("tee name=t ${V}. ! fakesink", "t") == "tee name=t t. ! fakesink")
    #expect(try fill("filesrc ! video/x-raw,framerate=${V} ! fakesink", "30/1").contains("framerate=30/1 !"))
    #expect(try fill("filesrc ! video/x-raw(memory:${V}) ! fakesink", "DMABuf").contains("(memory:DMABuf) !"))
    #expect(try fill("filesrc ! ${V}/x-raw,width=3 ! fakesink", "video").contains("! video/x-raw,width=3 !"))
  }

  @Test(arguments: [
    "${V} ! fakesink", "filesrc ! ${V} ! fakesink", "tee name=t ${V}. ! fakesink", "tee name=t t.${V} ! fakesink",
    "filesrc ${V}=3 ! fakesink", "filesrc ! video/x-raw,width=${V} ! fakesink",
    "filesrc ! ${V}/x-raw ! fakesink", "filesrc ! video/x-raw;audio/${V} ! fakesink", "file:///${V} ! fakesink",
    "\"${V}\"",
  ])
  func whatIsNoNameCannotStandWhereANameGoes(source: String) throws {
    for value in [
      "", " ", "a b", "x ! fakesink", "\"", "\\", "3 ! fakesink ! video/x-raw", "a;b", "a,b=3", "a=b", "\n", "é", "(a)",
    ] {
      do {
        let text = try fill(source, value)
        Issue.record("\(value.debugDescription) became \(text)")
      } catch let error as CommandError {
        #expect(error.status == .usage && error.message.contains("of V"), "\(error.message)")
      }
    }
  }

  /// GStreamer's lexer gives quotes no meaning in caps between two "!".
  @Test func aQuoteInCapsDoesNotGoOnIntoAValue() throws {
    let source = #"fakesrc ! video/x-raw,format="I420" ! queue name=${V} ! filesrc name=x location="${V}" "x"#
    let text = #"fakesrc ! video/x-raw,format="I420" ! queue name="q ! \" r" ! fakesink filesrc name=x location="y""#
    #expect(try fill(source, "q ! \" r").contains(#"name="q ! \" r" ! filesrc"#))
    #expect(try parsed(text).count == 5)
  }

  @Test(arguments: ["\r\n", "\n"]) func linesMayEndAsOnOtherSystems(end: String) throws {
    let source = ["\u{FEFF}# comment \"", "filesrc name=x location=${V}", " \t# more", "", "! fakesink", ""].joined(
      separator: end)
    let found = try parsed(try fill(source, "a b"))
    #expect(found.count == 2 && found.location == "a b")
  }

  @Test func aCommentIsOneWhateverFollowsItsMark() throws {
    #expect(try fill("#\u{301} ${NONE}\n\u{B}# ${NONE}\nfilesrc", "") == "filesrc")
  }

  @Test(arguments: [
    "${V\u{301}}", "${}", "${:-a}", "${1A}", "${V:a}", "${V-a}", "${a b}", "${V", "${1A:-b}", "${a b:-b}", "${é:-b}",
  ])
  func whatIsNoVariableIsAnError(text: String) {
    #expect(throws: CommandError.self) { try fill("filesrc location=\(text)", "a") }
  }

  @Test func aVariablesDefaultStandsWhereItIsNotSet() throws {
    #expect(try fill("filesrc location=${V:-b}", "a") == "filesrc location=a")
    #expect(try fill("filesrc location=${NONE:-b c}", "a") == "filesrc location=\"b c\"")
    #expect(try fill("filesrc location=${NONE:--}", "a") == "filesrc location=-")
    #expect(try fill("filesrc location=x${NONE:-}", "a") == "filesrc location=x")
    #expect(try fill("filesrc location=${V:-b}", "") == "filesrc location=\"\"")
  }

  @Test func filesAndValuesThatAreNoTextAreNamed() throws {
    func fill(_ file: [UInt8], _ value: [UInt8]) throws -> String {
      try LaunchFile(bytes: file, name: "test", variable: { _ in value }).text
    }
    let file = Array("filesrc location=${V}".utf8)
    for value in [[0xFF], [0x61, 0]] as [[UInt8]] {
      #expect { try fill(file, value) } throws: { ($0 as? CommandError)?.message.contains(" V ") == true }
    }
    for bytes in [[0xFF], [0x61, 0, 0x62]] as [[UInt8]] {
      #expect { try fill(bytes, []) } throws: { ($0 as? CommandError)?.status == .pipeline }
    }
    // A comment may contain bytes that are no text.
    #expect(try fill([0x23, 0xE9, 0x0A] + file, [0x61]) == "filesrc location=a")
  }

  @Test func aBraceWithACombiningMarkClosesAVariable() throws {
    #expect(try fill("filesrc location=\"${V}\u{301}\"", "a") == "filesrc location=\"a\u{301}\"")
  }

  // MARK: Other ways into a pipeline

  @Test func aURIIsOneValueWhateverIsInIt() throws {
    for value in Self.values {
      let text = "filesrc name=x location=\(LaunchText.quoted(value)) ! fakesink name=\"y\""
      let found = try parsed(text)
      #expect(found.count == 2 && found.location.map { Array($0.utf8) } == Array(value.utf8), "\(text)")
    }
  }

  @Test func anArgumentStaysOneWord() throws {
    for (argument, expected) in [
      ("a b", "a b"), ("a\nb", "a\nb"), ("a\t! fakesink", "a\t! fakesink"), ("C:\\", "C:\\"), ("a\n\\", "a\n\\"),
      ("\"a\nb\"", "a\nb"), ("a\n\"b", "a\n\"b"),
    ] {
      let arguments = ["filesrc", "name=x", "location=\(argument)", "!", "fakesink"]
      let element = try PipelineParser.parse(.arguments(arguments))
      defer { gst_object_unref(element) }
      #expect(element.asBin.pointee.numchildren == 2, "\(argument.debugDescription)")
      let source = try #require(gst_bin_get_by_name(element.asBin, "x"))
      defer { gst_object_unref(source) }
      var value = GValue()
      g_object_get_property(UnsafeMutableRawPointer(source).assumingMemoryBound(to: GObject.self), "location", &value)
      defer { g_value_unset(&value) }
      #expect(g_value_get_string(&value).map { String(cString: $0) } == expected, "\(argument.debugDescription)")
    }
  }

  @Test func aNULIsAnErrorRatherThanTheEnd() {
    for description in [
      PipelineDescription.text("videotestsrc ! appsink name=a\0 ! filesrc"),
      .arguments(["videotestsrc", "!", "appsink", "name=a\0b"]),
    ] {
      #expect { try PipelineParser.parse(description) } throws: { error in
        guard case .pipeline(.invalid(let reason))? = error as? PipSinkError else { return false }
        return reason.contains("NUL")
      }
    }
  }

  @Test func namesAreFoundAsGStreamerFindsThem() {
    #expect(
      PipelineDescription.text("a name=\"b c\" d name = e f.name=g location=\"name=h\"\u{301} name=i").elementNames
        == ["b c", "e", "i"])
    #expect(PipelineDescription.arguments(["a", "name=b c", "x=name=d", "name=\"e\""]).elementNames == ["b c", "e"])
  }
}

extension LaunchFile {
  /// Reads variables from `environment` instead of the process's environment.
  init(source: String, name: String, environment: [String: String]) throws {
    try self.init(bytes: Array(source.utf8), name: name) { environment[$0].map { Array($0.utf8) } }
  }
}
