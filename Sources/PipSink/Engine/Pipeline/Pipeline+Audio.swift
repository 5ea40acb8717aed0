import CGStreamer

/// The streams that a pipeline's audio elements belong to.
///
/// In a pipeline with one stream, all elements belong to it. Otherwise an element belongs to the stream whose ID its
/// name begins with; the ID has to end at the end of a word, and the longest one counts. An element without such a name
/// belongs to the stream with which it shares a source, if there is exactly one.
extension Pipeline {
  /// The stream that an element belongs to.
  ///
  /// - Parameter element: an element of the pipeline, possibly in a bin.
  /// - Returns: nil for an element that several streams share, and for one that belongs to no stream.
  func owner(of element: GstElementPointer) -> StreamID? {
    if streams.count == 1 { return streams[0].id }
    let names = [element.elementName, topLevelElement(of: element.asObject)?.elementName].compactMap(\.self)
    let named = streams.map(\.id).filter { id in names.contains { Self.isName($0, ofSomethingOf: id.rawValue) } }
    if let id = named.max(by: { $0.rawValue.utf8.count < $1.rawValue.utf8.count }) { return id }
    let related = streams(sharingSourceWith: element.asObject)
    return related.count == 1 ? related[0].id : nil
  }

  /// The streams that have an upstream element in common with `object`.
  func streams(sharingSourceWith object: UnsafeMutablePointer<GstObject>) -> [Stream] {
    guard let upstream = topLevelElement(of: object).map(upstreamElements) else { return [] }
    return streams.filter { !upstreamElements(of: $0.sink).isDisjoint(with: upstream) }
  }

  private static func isName(_ name: String, ofSomethingOf id: String) -> Bool {
    guard name.beginsWithBytes(of: id) else { return false }
    guard let next = name.unicodeScalars.dropFirst(id.unicodeScalars.count).first else { return true }
    // A combining mark belongs to the letter before it, so it does not end a word.
    return !next.properties.isAlphabetic && next.properties.numericType == nil
      && next.properties.canonicalCombiningClass == .notReordered
  }

  /// An element that applies a volume.
  struct VolumeControl {
    let element: AudioElement
    let owner: StreamID?
    /// Whether this element applies the overall volume, because no later one does.
    let takesOverall: Bool
  }

  /// The elements that apply volumes. On each path, the last element of a stream applies the stream's volume, and the
  /// last element of all applies the overall volume.
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
    // In the same bin, for instance a playsink, the sink comes last.
    if top == otherTop { return one.pointee.numsrcpads == 0 && other.pointee.numsrcpads > 0 }
    return upstreamElements(of: top).contains(otherTop)
  }
}

// MARK: - Removing branches

extension Pipeline {
  /// The pipeline's direct children without source pads, at which its branches end.
  var ends: [GstElementPointer] {
    elements.filter { $0.pointee.numsrcpads == 0 && contains($0.asObject) }
  }

  /// Whether an element, or the bin that it is in, processes sound, according to the class in its metadata.
  func isAudio(_ object: UnsafeMutablePointer<GstObject>) -> Bool {
    topLevelElement(of: object)?.kinds.contains("Audio") ?? false
  }

  /// Whether the pipeline has one stream, and an audio branch from the same source.
  var hasSoundOfItsStream: Bool {
    guard streams.count == 1 else { return false }
    let path = upstreamElements(of: streams[0].sink)
    return ends.map(upstreamElements).contains { branch in
      !path.isDisjoint(with: branch) && branch.subtracting(path).contains { isAudio($0.asObject) }
    }
  }

  /// Removes the branches that go through an element from the pipeline, except for what other branches need.
  func removeBranches(through object: UnsafeMutablePointer<GstObject>) {
    guard let element = topLevelElement(of: object) else { return }
    removeBranches { upstreamElements(of: $0).contains(element) }
  }

  /// Removes the branches that wait for a pad which `source` will not add any more, if other branches of that source go
  /// on.
  ///
  /// - Returns: the streams of the removed branches; nil when no branch was removed.
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

  /// Whether a branch waits for a pad that its source, or `source`, has not added.
  func isWaiting(_ end: GstElementPointer, for source: UnsafeMutablePointer<GstObject>? = nil) -> Bool {
    upstreamElements(of: end).contains { element in
      guard element.withSinkPads({ $0.contains { gst_pad_is_linked($0) == 0 } }),
        let latecomer = latecomer(before: element)
      else { return false }
      return source == nil || latecomer.asObject == source
    }
  }
}
