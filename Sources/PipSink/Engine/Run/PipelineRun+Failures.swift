/// Streams that fail, and the branches that are taken out for them, so that the others go on.
extension PipelineRun {
  /// On a streaming thread, from which no branch may be taken out: leaves a stream that refuses what it gets to the bus
  /// thread.
  ///
  /// - Returns: whether the stream is to let frames go by until then, so that what it shares with others does not stop.
  ///   Where there are no others, what feeds it is to stop.
  func noteRefusal(of id: StreamID, _ error: PipSinkError) -> Bool {
    let (isFirst, hasOthers) = progress.withLock { progress in
      let hasOthers = pipeline.streams.contains { $0.id != id && !progress.broken.contains($0.id) }
      guard progress.refusals[id] == nil, !progress.broken.contains(id) else { return (false, hasOthers) }
      progress.refusals[id] = error
      return (true, hasOthers)
    }
    if isFirst, let stream = pipeline.stream(id) { BusNote.streamRefused.post(from: stream.sink) }
    return hasOthers
  }

  /// Notes that nothing can come of streams any more, and closes those that are open. ``isolateBroken()`` is to follow.
  func noteBroken(_ streams: [Pipeline.Stream], _ error: PipSinkError) {
    let reasons = progress.withLock { progress in
      progress.broken.formUnion(streams.map(\.id))
      // What a stream says of itself tells more than what its source says of it.
      return streams.map { ($0.id, progress.refusals.removeValue(forKey: $0.id) ?? error) }
    }
    close(reasons.map { ($0.0, .failed($0.1)) })
  }

  /// Takes the branches of broken streams out, each once, unless nobody is left whom they could hold up. Left where it
  /// is, a branch without data keeps the others from prerolling: at the start, after a pause and after a jump. Not on a
  /// streaming thread.
  ///
  /// - Returns: whether there were any.
  @discardableResult
  func isolateBroken() -> Bool {
    let (broken, isNew) = progress.withLock { progress -> (Set<StreamID>, Bool) in
      guard progress.broken.count < pipeline.streams.count, progress.isolated != progress.broken else {
        return ([], false)
      }
      progress.isolated = progress.broken
      return (progress.broken, true)
    }
    if isNew { pipeline.isolate(pipeline.streams.filter { broken.contains($0.id) }) }
    return isNew
  }
}
