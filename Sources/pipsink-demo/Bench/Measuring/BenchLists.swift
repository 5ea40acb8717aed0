import ArgumentParser
import PipSink

/// A list of counts on the command line, such as "1,4,16".
struct CountList: ExpressibleByArgument {
  let counts: [Int]

  init(_ counts: [Int]) {
    self.counts = counts
  }

  init?(argument: String) {
    let counts = argument.parts(between: ",").map { Int($0) ?? 0 }
    guard !counts.isEmpty, counts.allSatisfy({ (1...1000).contains($0) }) else { return nil }
    self.counts = counts
  }

  var defaultValueDescription: String { counts.map(String.init).joined(separator: ",") }
}

/// A list of sizes in pixels on the command line, such as "320x180,1280x720".
struct SizeList: ExpressibleByArgument {
  let sizes: [PictureSize]

  init(_ sizes: [(width: Int, height: Int)]) {
    self.sizes = sizes.map { PictureSize(width: $0.width, height: $0.height) }
  }

  init?(argument: String) {
    let sizes = argument.parts(between: ",").map { PictureSize(argument: $0) }
    guard !sizes.isEmpty, sizes.allSatisfy({ $0 != nil }) else { return nil }
    self.sizes = sizes.compactMap(\.self)
  }

  var defaultValueDescription: String { sizes.map(\.description).joined(separator: ",") }
}
