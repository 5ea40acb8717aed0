import CGStreamer
import Foundation
import GstPipSink
import PipSink
import Testing

@testable import PipSinkCommandLine
@testable import PipSinkWindows
@testable import TestSupport
@testable import pipsink_demo

/// The manual pages describe the program and the elements as these describe themselves, and the pages are well-formed.
@Suite struct ManualTests {
  private let program: ManualPage
  private let element: ManualPage

  init() throws {
    program = try ManualPage("pipsink-demo.1")
    element = try ManualPage("pipsink.7")
  }

  @Test func mandocFindsNothingToWarnOf() async throws {
    for page in [program, element] {
      let result = try await RunningProgram("/usr/bin/mandoc", ["-T", "lint", "-W", "warning", page.url.path]).result()
      #expect(result.status == 0 && result.output.isEmpty, "\(result.output)\(result.errors)")
    }
  }

  // MARK: - The program

  /// The description of an option in the output of `--help`.
  private struct HelpOption {
    let names: Set<String>
    let text: String

    /// The option's possible values, if the description lists them.
    var values: [String] {
      text.firstMatch(of: /\(values: ([^;)]*)/).map { $0.1.split(separator: ", ").map(String.init) } ?? []
    }

    var defaultValue: String? { text.firstMatch(of: /default: ([^;)]*)\)/).map { String($0.1) } }
  }

  private struct Help {
    let options: [HelpOption]
    let commands: [String]

    init(_ output: String) {
      var options: [(head: String, text: String)] = []
      var commands: [String] = []
      var isCommands = false
      for line in output[(output.range(of: "\nUSAGE:")?.lowerBound ?? output.startIndex)...].split(separator: "\n") {
        if line.hasSuffix(":") { isCommands = line == "SUBCOMMANDS:" }
        if isCommands {
          if let name = line.firstMatch(of: /^  ([a-z]\S*)/), !line.contains("See '") {
            commands.append(String(name.1))
          }
        } else if let match = line.firstMatch(of: /^  (-.*?)(?:  +(.*))?$/) {
          options.append((String(match.1), String(match.2 ?? "")))
        } else if line.hasPrefix("      "), !options.isEmpty {
          options[options.count - 1].text += " " + line.trimmingCharacters(in: .whitespaces)
        }
      }
      self.commands = commands
      self.options = options.map { option in
        // The text in angle brackets names a value, not an option.
        let names = option.head.replacing(/<[^>]*>/, with: "").matches(of: /-{1,2}[A-Za-z][\w\-]*/)
        return HelpOption(
          names: Set(names.map { String($0.0) }), text: option.text.trimmingCharacters(in: .whitespaces))
      }
    }
  }

  private func help(_ command: [String]) async throws -> Help {
    let result = try await Demo.start(command + ["--help"]).result()
    #expect(result.status == 0, "\(result.errors)")
    return Help(result.output)
  }

  /// A command and all commands within it.
  private func commands(_ command: [String] = []) async throws -> [[String]] {
    let names = try await help(command).commands
    var all: [[String]] = [command]
    for name in names { all += try await commands(command + [name]) }
    return all
  }

  @Test func everyOptionOfEveryCommandIsDescribedAndNoOther() async throws {
    let common = try #require(program.section("OPTIONS/Every command"))
    var used: Set<String> = []
    let commands = try await commands()
    #expect(commands.count >= 4)
    for command in commands {
      let own = command.joined(separator: " ")
      // A command's options are in its own subsection and in that of its parent command. A call has those of play, too.
      let titles = [own, command.first ?? "", own == "call" ? "play" : ""].filter { !$0.isEmpty }
      let sections = Set(titles).compactMap { program.section("OPTIONS/\($0)") } + [common]
      let entries = sections.flatMap(\.entries)
      let options = try await help(command).options
      for option in options {
        used.formUnion(option.names.map { "\(own) \($0)" })
        let entry = entries.first { option.names.isSubset(of: $0.options) }
        guard let entry else {
          Issue.record("\(own): \(option.names.sorted()) is not in the manual page")
          continue
        }
        for value in option.values {
          #expect(
            entry.text.split(whereSeparator: { " ,;:().".contains($0) }).contains { $0 == value },
            "\(own) \(entry.tags): \(value)")
        }
        if let value = option.defaultValue {
          #expect(entry.text.contains("The default is \(value)"), "\(own) \(entry.tags): \(value)")
        }
      }
      if let section = program.section("OPTIONS/\(own)") {
        let known = Set(options.flatMap(\.names))
        // If a command has subcommands, its subsection lists their options.
        for name in section.entries.flatMap(\.options) where try await help(command).commands.isEmpty {
          #expect(known.contains(name), "\(own) has no \(name)")
        }
      }
    }
    for part in program.parts(of: "OPTIONS") where part != "Every command" {
      for name in program.section("OPTIONS/\(part)")?.entries.flatMap(\.options) ?? [] {
        #expect(used.contains { $0.hasPrefix(part) && $0.hasSuffix(" \(name)") }, "\(part) has no \(name)")
      }
    }
  }

  @Test func everyActionIsDescribedAndNoOther() async throws {
    let option = try #require(try await help(["play"]).options.first { $0.names == ["--at"] })
    let list = try #require(option.text.firstMatch(of: /seconds: (.*?)\. Repeatable/)?.1)
    let actions = list.replacing(" or ", with: ", ").split(separator: ", ").map(String.init)
    #expect(actions.count >= 20)
    #expect(program.section("ACTIONS")?.tags.sorted() == actions.sorted())
  }

  @Test func everyProcessorIsDescribedAndNoOther() async throws {
    let output = try await Demo.start(["processors"]).result().output
    let names = output.split(separator: "\n").compactMap { $0.firstMatch(of: /^[\w\-]+/).map { String($0.0) } }
    #expect(names.count >= 5)
    let tags = program.section("PROCESSORS")?.tags.compactMap { $0.split(separator: ":").first.map(String.init) }
    #expect(tags?.sorted() == names.sorted())
  }

  @Test func theHelpTheManualAndTheDocumentSayTheSameOfEveryKey() throws {
    let keys = TimedAction.keys.map { ($0.key == " " ? "space" : "\($0.key)", $0.summary) }
    let help = TimedAction.help.split(separator: "\n").map { line in
      (String(line.prefix { $0 != " " }), line.drop { $0 != " " }.trimmingCharacters(in: .whitespaces))
    }
    #expect(help.elementsEqual(keys, by: ==))
    let entries = try #require(program.section("KEYS")).entries.prefix(keys.count)
    for (entry, key) in zip(entries, keys) {
      #expect(entry.tags == [key.0])
      #expect(entry.text.lowercased().trimmingCharacters(in: .whitespaces) == "\(key.1).")
    }
    let lines = try Document(Demo.root.appendingPathComponent("docs/demo.md")).lines
    let table = lines.drop { $0 != "| key | what it does |" }.dropFirst(2).prefix { $0.hasPrefix("|") }
    #expect(table.map { $0.replacing("`", with: "") } == keys.map { "| \($0.0) | \($0.1) |" })
  }

  @Test @MainActor func everyKeyIsDescribedAndNoOther() {
    let help = TimedAction.keys.map { $0.key == " " ? "space" : "\($0.key)" }
    let all = Set(PictureInPictureAction.known)
    // These are the keys of ASCII characters and the keys that are no characters.
    let keys = [0x20...0x7E, 0xFF00...0xFFFF].flatMap { Array($0) }.map { UInt32($0) }
    let window = keys.filter {
      PictureInPictureAction(key: $0, among: all) != nil || PictureInPictureWindow.isForNext($0) == true
    }.compactMap { WindowKey(keysym: $0, symbol: $0).name }
    #expect(help.count >= 8 && window.count >= 4)
    #expect(Set(program.section("KEYS")?.tags ?? []) == Set(help).union(window))
  }

  @Test func everyExitCodeIsDescribedAndNoOther() async throws {
    let codes = [0] + (1...255).filter { ExitStatus(rawValue: $0) != nil }
    #expect(program.section("EXIT STATUS")?.tags == codes.map { "\($0)" })
    let output = try await Demo.start(["play", "--help"]).result().output
    let text = try #require(output.firstMatch(of: /Exit codes:(?s)(.*?)\n\n/)?.1)
    #expect(text.matches(of: /\b\d+\b/).map { String($0.0) } == codes.map { "\($0)" })
  }

  @Test func everyFieldOfTheReportIsDescribedAndNoOther() throws {
    var paths: [String] = []
    collect(Mirror(reflecting: Self.report), "", into: &paths)
    #expect(paths.count >= 40)
    #expect(program.section("REPORT")?.tags.sorted() == paths.sorted())
  }

  /// Collects the paths of all numbers, texts and lists of texts in a value. A missing value is a fault of this test.
  private func collect(_ mirror: Mirror, _ path: String, into paths: inout [String]) {
    for child in mirror.children {
      let name = path + (path.isEmpty ? "" : ".") + (child.label ?? "")
      var value = child.value
      if Mirror(reflecting: value).displayStyle == .optional {
        guard let some = Mirror(reflecting: value).children.first else {
          Issue.record("the example of a report has no \(name)")
          continue
        }
        value = some.value
      }
      switch value {
      case let streams as [String: Report.Stream]:
        for stream in streams.values { collect(Mirror(reflecting: stream), "\(name).ID", into: &paths) }
      case is [String]: paths.append(name)
      case let changes as [Report.ModeChange]:
        for change in changes { collect(Mirror(reflecting: change), "\(name)[]", into: &paths) }
      case let events as [Report.PictureInPictureEventRecord]:
        for event in events { collect(Mirror(reflecting: event), "\(name)[]", into: &paths) }
      default:
        let inner = Mirror(reflecting: value)
        if inner.displayStyle == .struct, !inner.children.isEmpty, !(value is any Numeric), !(value is String) {
          collect(inner, name, into: &paths)
        } else {
          paths.append(name)
        }
      }
    }
  }

  /// A report in which every field has a value.
  private static let report: Report = {
    let interval = Report.Interval(p50: 1, p99: 2)
    var stream = Report.Stream(
      received: 1, inApp: 1, pip: 1, replaced: 1, shown: 1, late: 1, hidden: 1, refused: 1, state: "")
    (stream.dropped, stream.skipped, stream.customRendered, stream.frameRate) = (1, 1, 1, 1)
    stream.sent = .init(state: "", packets: 1, bytes: 1, lost: 1, roundTripMs: 1)
    (stream.format, stream.error, stream.frameInterval, stream.latency) = ("", "", interval, interval)
    (stream.screenLatency, stream.missedRefreshes) = (interval, 1)
    (stream.drawnByOpenGL, stream.drawnByDisplayServer) = (1, 1)
    return Report(
      outcome: .finished, durationSeconds: 1, surface: "", streams: ["a": stream],
      forgottenStreams: Report.ForgottenStreams(), abandonedPipelines: 0,
      modeChanges: [
        Report.ModeChange(
          stream: "", from: "", to: "", time: 0, firstFrameLatencyMs: 1, framesLost: 0, framesRepeated: 0)
      ],
      pictureInPictureEvents: [Report.PictureInPictureEventRecord(time: 0, event: "", stream: "", detail: "")],
      process: Report.ProcessUsage(cpuSeconds: 1, peakRssBytes: 1, rssBytes: 1, threads: 1, openFiles: 1),
      pictureInPictureProcess: Report.PictureInPictureUsageRecord(seconds: 1, cpuSeconds: 1, peakRssBytes: 1),
      snapshots: [], errors: [])
  }()

  // MARK: - The elements

  @Test func everyElementIsDescribedAndNoOther() throws {
    let names = try Introspection.elements()
    #expect(names.count >= 2)
    #expect(element.parts(of: "PROPERTIES").sorted() == names)
    #expect(names.allSatisfy { element.section("NAME")?.text.contains($0) ?? false })
  }

  @Test func everyPropertyIsDescribedWithItsTypeRangeAndDefault() throws {
    for name in try Introspection.elements() {
      let section = try #require(element.section("PROPERTIES/\(name)"))
      let properties = try Introspection.properties(of: name)
      #expect(section.tags.sorted() == properties.map(\.description).sorted())
      for property in properties {
        let entry = section.entries.first { $0.tags == [property.description] }
        let words = entry?.text.split(whereSeparator: { " ,;:().".contains($0) }).map(String.init) ?? []
        for value in property.values { #expect(words.contains(value), "\(name): \(property.name)=\(value)") }
      }
    }
  }

  @Test func everyFieldOfTheStatisticsIsDescribed() throws {
    for name in try Introspection.elements() {
      let entry = element.section("PROPERTIES/\(name)")?.entries.first { $0.tags[0].hasPrefix("stats ") }
      let fields = try Introspection.statistics(of: name)
      #expect(fields.count >= 3)
      for field in fields { #expect(entry?.text.contains(field) ?? false, "\(name): \(field)") }
    }
  }

  @Test func everySignalIsDescribedWithItsArgumentsAndNoOther() throws {
    let signals = try Introspection.elements().flatMap { try Introspection.signals(of: $0) }
    #expect(element.section("ACTIONS")?.tags.sorted() == signals.filter(\.isAction).map(\.name).sorted())
    let tags = element.section("SIGNALS AND MESSAGES")?.tags.map { tag in
      // Introspection does not give the names of arguments.
      tag.replacing(/(\w+) [\w\-]+(?=[,)])/) { String($0.1) }
    }
    let expected = signals.filter { !$0.isAction }.map { signal in
      signal.types.isEmpty ? signal.name : "\(signal.name) (\(signal.types.joined(separator: ", ")))"
    }
    #expect(expected.count >= 10)
    #expect(tags?.sorted() == expected.sorted())
  }
}
