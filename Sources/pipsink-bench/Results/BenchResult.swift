import PipSink
import PipSinkCommandLine

/// The result of a benchmark, as `--json` writes it.
struct BenchResult: Codable {
  var schema = 1
  /// "route", "instructions", "present", "switch", "scale", "memory", "kernels" or "kernels --instructions".
  var benchmark: String
  /// The command that has measured it, without the options about files.
  var command: String
  var machine: Machine
  /// Frames a second of PipSink's whole frame path divided by those of the C program: the median of the rounds' ratios.
  var ratioToC: Double?
  /// Frames a second of PipSink's whole frame path divided by those of fakesink.
  var ratioToFakesink: Double?
  /// The IDs of the processes that have measured, in the order of their starts: a new process for every part in every
  /// round. Absent in the result of such a process.
  var processes: [Int32]?
  var measurements: [Measurement]
  /// Remarks on the numbers, and on what could not be measured on this machine.
  var remarks: [String]

  init(_ benchmark: String, _ samples: Samples, processes: OwnProcesses? = nil, remarks: [String] = []) {
    self.benchmark = benchmark
    command = Self.command
    machine = .current
    self.processes = processes?.identifiers
    measurements = samples.measurements
    self.remarks = remarks
  }

  init(contentsOf path: String) throws {
    do {
      self = try JSONText.decode(try InputFile.bytes(of: path))
    } catch {
      throw CommandError(.usage, "\"\(path)\" is no result of a benchmark: \(error)")
    }
    if let empty = measurements.first(where: \.rounds.isEmpty) {
      throw CommandError(.usage, "\"\(path)\" is no result of a benchmark: \"\(empty.name)\" has no rounds")
    }
  }

  /// This program's command, without the options that do not influence what is measured.
  static var command: String {
    (["pipsink-bench"] + arguments(without: options)).joined(separator: " ")
  }

  /// The arguments for another process that measures the same.
  static var argumentsThatMeasure: [String] { arguments(without: options + ["--rounds"]) }

  private static let options = ["--json", "--csv", "--compare", "--against"]

  private static func arguments(without options: [String]) -> [String] {
    var rest: [String] = []
    var isValue = false
    for argument in CommandLine.arguments.dropFirst() {
      if isValue {
        isValue = false
      } else if options.contains(where: { argument == $0 || argument.hasPrefix($0 + "=") }) {
        isValue = !argument.contains("=")
      } else {
        rest.append(argument)
      }
    }
    return rest
  }

  func measurement(_ name: String, _ quantity: String) -> Measurement? {
    measurements.first { $0.name == name && $0.quantity == quantity }
  }

  var json: [UInt8] {
    get throws { try JSONText.encode(self) }
  }

  /// The result as CSV, with one line for every number of every round.
  var csv: String {
    let lines = measurements.flatMap { measurement in
      measurement.rounds.enumerated().map { round, value in
        ([measurement.name, measurement.quantity, measurement.unit].map(Self.quoted) + ["\(round + 1)", "\(value)"])
          .joined(separator: ",")
      }
    }
    return (["name,quantity,unit,round,value"] + lines).joined(separator: "\n") + "\n"
  }

  private static func quoted(_ text: String) -> String {
    "\"" + text.parts(between: "\"").joined(separator: "\"\"") + "\""
  }
}
