/// Failures of streams. The branches of failed streams are removed from the pipeline, so that the others go on.
extension PipelineRun {
  /// Notes that a stream refuses what it gets. Called on a streaming thread, from which no branch may be removed, so
  /// the run's thread does the rest.
  ///
  /// - Returns: true when there are other streams: then the stream must ignore its frames until its branch has been
  ///   removed, so that shared elements do not stop. False when its source should stop.
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

  /// Notes that streams cannot deliver frames any more, and closes those that are open. ``isolateBroken()`` must
  /// follow.
  func noteBroken(_ streams: [Pipeline.Stream], _ error: PipSinkError) {
    let reasons = progress.withLock { progress in
      progress.broken.formUnion(streams.map(\.id))
      // The reason why a stream refused its input is more precise than the error of its source.
      return streams.map { ($0.id, progress.refusals.removeValue(forKey: $0.id) ?? error) }
    }
    close(reasons.map { ($0.0, .failed($0.1)) })
  }

  /// Removes the branches of broken streams, each once, unless all streams are broken. A branch without data would keep
  /// the others from prerolling at the start, after a pause and after a seek. Must not be called on a streaming thread.
  ///
  /// - Returns: whether branches were removed.
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
