import CGStreamer

/// Which stream a pipeline's audio elements belong to.
///
/// Those whose name begins with a stream's ID are that stream's (the longest ID that fits, at the end of a word).
/// Others are the stream's with which they share a source, where that is one stream alone; in a pipeline of one stream
/// all are its.
extension Pipeline {
  /// - Parameter element: of the pipeline, or in a bin of it.
  /// - Returns: nil for one that several streams share, and for one that none has anything to do with.
  func owner(of element: GstElementPointer) -> StreamID? {
    if streams.count == 1 { return streams[0].id }
    let names = [element.elementName, topLevelElement(of: element.asObject)?.elementName].compactMap(\.self)
    let named = streams.map(\.id).filter { id in names.contains { Self.isName($0, ofSomethingOf: id.rawValue) } }
    if let id = named.max(by: { $0.rawValue.utf8.count < $1.rawValue.utf8.count }) { return id }
    let related = streams(sharingSourceWith: element.asObject)
    return related.count == 1 ? related[0].id : nil
  }

  func streams(sharingSourceWith object: UnsafeMutablePointer<GstObject>) -> [Stream] {
    guard let upstream = topLevelElement(of: object).map(upstreamElements) else { return [] }
    return streams.filter { !upstreamElements(of: $0.sink).isDisjoint(with: upstream) }
  }

  private static func isName(_ name: String, ofSomethingOf id: String) -> Bool {
    guard name.beginsWithBytes(of: id) else { return false }
    guard let next = name.unicodeScalars.dropFirst(id.unicodeScalars.count).first else { return true }
    // A mark goes on with the letter before it.
    return !next.properties.isAlphabetic && next.properties.numericType == nil
      && next.properties.canonicalCombiningClass == .notReordered
  }

  struct VolumeControl {
    let element: AudioElement
    let owner: StreamID?
    /// Whether the overall volume is applied here rather than further down.
    let takesOverall: Bool
  }

  /// Where volumes are applied. Of several elements on one way, the last that is a stream's own has the stream's
  /// volume, and the last of all the overall volume.
  func volumeControls(_ elements: [AudioElement]) -> [VolumeControl] {
    let all = elements.filter { $0.hasVolume && contains($0.pointer.asObject) }
      .map { (element: $0, owner: owner(of: $0.pointer)) }
    return all.compactMap { control in
      let later = all.filter { isElement($0.element.pointer, after: control.element.pointer) }
      if later.contains(where: { $0.owner == control.owner }) { return nil }
      return VolumeControl(element: control.element, owner: control.owner, takesOverall: later.isEmpty)
    }
  }

  private func isElement(_ one: GstElementPointer, after other: GstElementPointer) -> Bool {
    guard one != other, let top = topLevelElement(of: one.asObject),
      let otherTop = topLevelElement(of: other.asObject)
    else { return false }
    // In one bin, a playsink for instance, the sink is the last.
    if top == otherTop { return one.pointee.numsrcpads == 0 && other.pointee.numsrcpads > 0 }
    return upstreamElements(of: top).contains(otherTop)
  }
}

// MARK: - Taking branches out

extension Pipeline {
  /// The pipeline's direct children that nothing comes after.
  var ends: [GstElementPointer] {
    elements.filter { $0.pointee.numsrcpads == 0 && contains($0.asObject) }
  }

  /// Whether an element of this pipeline works on sound, by its plugin's words; so does one inside of such a bin.
  func isAudio(_ object: UnsafeMutablePointer<GstObject>) -> Bool {
    topLevelElement(of: object)?.kinds.contains("Audio") ?? false
  }

  /// Whether it has one stream, and sound of the same source beside it.
  var hasSoundOfItsStream: Bool {
    guard streams.count == 1 else { return false }
    let way = upstreamElements(of: streams[0].sink)
    return ends.map(upstreamElements).contains { branch in
      !way.isDisjoint(with: branch) && branch.subtracting(way).contains { isAudio($0.asObject) }
    }
  }

  /// Takes the branches that go through an element out of the pipeline, and leaves what others need.
  func removeBranches(through object: UnsafeMutablePointer<GstObject>) {
    guard let element = topLevelElement(of: object) else { return }
    removeBranches { upstreamElements(of: $0).contains(element) }
  }

  /// Takes branches out that wait for a pad that `source` will not add any more, where others that begin there go on.
  ///
  /// - Returns: the streams among them; nil when there was nothing to do.
  func removeBranches(waitingFor source: UnsafeMutablePointer<GstObject>) -> [StreamID]? {
    let waiting = ends.filter { isWaiting($0, for: source) }
    let served = ends.filter { end in
      !waiting.contains(end) && upstreamElements(of: end).contains { $0.asObject == source }
    }
    guard !waiting.isEmpty, !served.isEmpty else { return nil }
    let silent = streams.filter { stream in topLevelElement(of: stream.sink.asObject).map(waiting.contains) ?? false
    }
    removeBranches(where: waiting.contains)
    return silent.map(\.id)
  }

  private func removeBranches(where isUnwanted: (GstElementPointer) -> Bool) {
    let ends = ends
    let unwanted = ends.filter(isUnwanted)
    remove(Set(unwanted.flatMap(upstreamElements)), neededFor: ends.filter { !unwanted.contains($0) })
  }

  private func isWaiting(_ end: GstElementPointer, for source: UnsafeMutablePointer<GstObject>) -> Bool {
    upstreamElements(of: end).contains { element in
      element.withSinkPads { $0.contains { gst_pad_is_linked($0) == 0 } }
        && latecomer(before: element)?.asObject == source
    }
  }
}
