import ArgumentParser
import PipSink

/// A list on the command line with commas between its values, such as "1,4,16" or "320x180,1280x720".
struct CommaList<Value: ExpressibleByArgument & CustomStringConvertible>: ExpressibleByArgument {
  let values: [Value]

  init(_ values: [Value]) {
    self.values = values
  }

  init?(argument: String) {
    let values = argument.parts(between: ",").map { Value(argument: $0) }
    self.values = values.compactMap(\.self)
    guard !values.isEmpty, self.values.count == values.count else { return nil }
  }

  var defaultValueDescription: String { values.map(\.description).joined(separator: ",") }
}
