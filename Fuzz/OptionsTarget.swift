import ArgumentParser
import Logging

@testable import PipSink
@testable import PipSinkCommandLine
@testable import pipsink_demo

/// Fuzzes the parsing of the command line. The first byte selects the option, and the other bytes are its value.
@MainActor
enum OptionsTarget {
  static func run(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
    switch first % 8 {
    case 0: action(text)
    case 1:
      if let media = StreamOption.media([text, text]) {
        require(media.count == 2 && media[0].streamID != media[1].streamID, "two streams of \(text) have the same ID")
        require(media.allSatisfy { !$0.streamID.rawValue.isEmpty }, text)
      }
      guard let option = StreamOption(argument: text) else { return }
      let pipeline: String
      switch option.source {
      case .uri(let uri), .whep(let uri): pipeline = uri
      case .pipeline(let description):
        guard case .text(let text) = description.content else { return }
        pipeline = text
      }
      require(!option.streamID.rawValue.isEmpty && !pipeline.isEmpty, "\(text) gives an empty stream ID or pipeline")
      require("\(option.streamID)=\(pipeline)".utf8.elementsEqual(text.utf8), "\(text) is not \(option)")
      require(!option.streamID.rawValue.utf8.contains(UInt8(ascii: "=")), text)
    case 2:
      guard let size = PictureSize(argument: text) else { return }
      require(size.isValid && PictureSize(argument: "\(size)") == size, "\(size) of \(text)")
    case 3:
      guard let option = ProcessorOption(argument: text) else { return }
      let written = "\(option.streamID)=\(option.name)\(option.argument.map { ":\($0)" } ?? "")"
      require(written.utf8.elementsEqual(text.utf8), "\(text) is not \(written)")
      _ = try? FrameProcessorRegistry.shared.makeProcessor(named: option.name, argument: option.argument)
    case 4:
      guard case .duck(let level)? = AudioInterruption(argument: text) else { return }
      require((0...1).contains(level), text)
    case 5:
      guard let levels = try? LogLevels(text) else { return }
      require(Logger.Level.allCases.contains(levels.level(of: "pipsink.engine")), text)
      let written = levels.rules.map { "\($0.pattern):\($0.level)" }.joined(separator: ",")
      require((try? LogLevels(written)) == levels, "\(written) of \(text)")
    case 6:
      for name in FrameProcessorRegistry.shared.entries.map(\.name) {
        _ = try? FrameProcessorRegistry.shared.makeProcessor(named: name, argument: text)
      }
    default: commandLine(text.parts(between: "\n"))
    }
  }

  private static func action(_ text: String) {
    guard let timed = try? TimedAction(text) else { return }
    require(timed.seconds >= 0 && timed.seconds.isFinite, text)
    switch timed.action {
    case .pictureInPicture(let id), .source(let id?), .second(let id?), .startStream(let id), .stopStream(let id),
      .camera(_, let id), .microphone(_, let id):
      require(
        !id.rawValue.isEmpty && text.utf8.reversed().starts(with: id.rawValue.utf8.reversed()), "\(id) of \(text)")
    case .volume(let level): require((0...1).contains(level), text)
    default: break
    }
  }

  private static func commandLine(_ arguments: [String]) {
    guard let command = try? PlayCommand.parse(arguments) else { return }
    require(command.duration.map { $0 > 0 && $0.isFinite } ?? true, "\(arguments)")
    require((0...1).contains(command.audio.volume), "\(arguments)")
    require(command.windowSize?.isValid ?? true && command.pipSize?.isValid ?? true, "\(arguments)")
  }
}
