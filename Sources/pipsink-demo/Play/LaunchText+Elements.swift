import PipSink

/// Reading and replacing the elements of a description.
extension LaunchText {
  /// An element as it is written in a description.
  struct Element {
    /// The name of the element's factory, for instance "videotestsrc".
    let factory: String
    /// The properties that the description sets.
    var properties: [(name: String, value: String)] = []
    /// The range of the factory's name in the text.
    fileprivate let place: Range<Int>
    /// The ranges of the properties in the text, except for the property `name`.
    fileprivate var settings: [Range<Int>] = []

    fileprivate init(factory: String, properties: [(name: String, value: String)] = [], place: Range<Int> = 0..<0) {
      (self.factory, self.properties, self.place) = (factory, properties, place)
    }
  }

  /// All elements, and everything else that looks like one: references to elements, operators, URIs. The text must have
  /// no holes.
  var elements: [Element] {
    var elements: [Element] = []
    var isOpen = false
    for token in tokens {
      switch token.kind {
      case .caps: isOpen = false
      case .other:
        isOpen = true
        elements.append(Element(factory: string(token.range), place: token.range))
      case .property:
        guard isOpen else { continue }
        let name = string(token.name)
        let value = String(decoding: decoded(token.range).map { UInt8($0) }, as: UTF8.self)
        elements[elements.count - 1].properties.append((name, value))
        // The name stays, since other parts of the description may refer to the element by it.
        guard name != "name" else { continue }
        elements[elements.count - 1].settings.append(token.name.lowerBound..<token.range.upperBound)
      }
    }
    return elements
  }

  /// The text with some elements replaced by others, which keep the names.
  ///
  /// - Parameter replacement: returns the text of the new element; nil to keep the element.
  func replacingElements(_ replacement: (Element) -> String?) -> String {
    var result: [UInt8] = []
    var position = 0
    func copy(to end: Int) { result += units[position..<end].map { UInt8($0) } }
    for element in elements {
      guard let text = replacement(element) else { continue }
      copy(to: element.place.lowerBound)
      result += text.utf8
      position = element.place.upperBound
      for setting in element.settings {
        copy(to: setting.lowerBound)
        position = setting.upperBound
      }
    }
    copy(to: units.count)
    return String(decoding: result, as: UTF8.self)
  }

  private func string(_ range: Range<Int>) -> String {
    String(decoding: units[range].map { UInt8($0) }, as: UTF8.self)
  }
}

extension PipelineDescription {
  /// The description with some elements replaced by others, which keep the names.
  ///
  /// - Parameter replacement: returns the new element's factory and properties, as words; nil to keep the element.
  func replacingElements(_ replacement: (LaunchText.Element) -> [String]?) -> PipelineDescription {
    switch content {
    case .text(let text): .text(LaunchText(text).replacingElements { replacement($0)?.joined(separator: " ") })
    case .arguments(let words): .arguments(Self.replacingElements(in: words, replacement))
    case .misfit: self
    }
  }

  private static func replacingElements(
    in words: [String], _ replacement: (LaunchText.Element) -> [String]?
  ) -> [String] {
    var result: [String] = []
    var rest = words[...]
    while let word = rest.popFirst() {
      let settings = rest.prefix { LaunchText.property(inArgument: $0) != nil }
      rest = rest.dropFirst(settings.count)
      let properties = settings.compactMap { LaunchText.property(inArgument: $0) }.map {
        (name: String(decoding: $0.name, as: UTF8.self), value: String(decoding: $0.value, as: UTF8.self))
      }
      if let others = replacement(LaunchText.Element(factory: word, properties: properties)) {
        result += others + zip(settings, properties).filter { $1.name == "name" }.map(\.0)
      } else {
        result += [word] + settings
      }
    }
    return result
  }
}
