/// Starts the engine's own pipeline again when all its streams have failed.
extension VideoEngine {
  /// What is to run: from a start by the engine's owner to the stop.
  struct Plan {
    /// What takes the streams' frames; nil where nothing is to run.
    private(set) var consumers: (@Sendable (StreamID) -> any SampleBufferConsumer)?
    /// Of the start or stop. What was planned before the latest is out of date.
    private(set) var number = 0
    /// Restarts since failures were forgotten last.
    private var attempt = 0
    /// Whether the pipeline has failed, and its next start is to come.
    fileprivate(set) var isRestartAwaited = false

    mutating func begin(_ consumers: @escaping @Sendable (StreamID) -> any SampleBufferConsumer) {
      self.consumers = consumers
      number += 1
      attempt = 0
    }

    mutating func end() {
      consumers = nil
      number += 1
    }

    /// - Returns: the next restart's number, and what to wait before it; nil when there is none.
    fileprivate mutating func retry(
      _ policy: RetryPolicy, _ number: Int, hasSettled: Bool
    ) -> (attempt: Int, pause: Duration)? {
      guard number == self.number, consumers != nil else { return nil }
      attempt = hasSettled ? 1 : attempt + 1
      guard let pause = policy.pause(before: attempt) else { return nil }
      isRestartAwaited = true
      return (attempt, pause)
    }
  }

  private static let settledAfter = Duration.seconds(10)
  /// Pipelines that block, each with threads and memory, are not to become ever more.
  private static let blockedLimit = 3

  /// On the run's thread: all its streams have failed.
  ///
  /// - Parameter number: of the plan that the run is of.
  /// - Returns: whether the pipeline is started again. The streams have been told so then.
  func planRestart(of run: PipelineRun?, _ number: Int, after failure: PipelineRun.Failure) -> Bool {
    let hasPlayed = failure.playingSince != nil
    let now = status.clock.now
    let hasSettled = failure.playingSince.map { now >= $0.advanced(by: Self.settledAfter) } ?? false
    guard let policy = retryPolicy, failure.errors.values.contains(where: { !$0.isFinal(hasPlayed: hasPlayed) }),
      let (attempt, pause) = plan.withLock({ $0.retry(policy, number, hasSettled: hasSettled) })
    else { return false }
    let moment = status.clock.moment(in: pause)
    for (id, error) in failure.errors {
      status.setStream(id, to: .reconnecting(attempt: attempt, pause: pause, after: error))
    }
    status.setEngine(.starting)
    let (clock, blocked, timeout) = (status.clock, status.blocked, status.state.withLock { $0.stateChangeTimeout })
    Task { [weak self] in
      if let run {
        // At once: the next start needs the device that this one has.
        run.requestStop()
        _ = await run.waitForStop(by: clock.moment(in: timeout))
        self?.forget(run)
      }
      try? await clock.sleep(until: moment)
      while blocked.count >= Self.blockedLimit, self?.isAwaited(number) == true {
        try? await clock.sleep(until: clock.moment(in: policy.longestPause))
      }
      self?.restart(number)
    }
    return true
  }

  private func isAwaited(_ number: Int) -> Bool { plan.withLock { $0.number == number } }

  private func restart(_ number: Int) {
    let error = plan.withLock { plan -> PipSinkError? in
      guard plan.number == number, let consumers = plan.consumers else { return nil }
      plan.isRestartAwaited = false
      do throws(PipSinkError) {
        try launch(number, isAwaited: false, deliveringTo: consumers)
        return nil
      } catch {
        return error
      }
    }
    guard let error else { return }
    let errors = Dictionary(uniqueKeysWithValues: streamIDs.map { ($0, error) })
    guard !planRestart(of: nil, number, after: .init(errors: errors, playingSince: nil)) else { return }
    for id in streamIDs { status.setStream(id, to: .failed(error)) }
    status.setEngine(.stopped)
  }

  /// The engine has been stopped: no restart comes any more.
  func cancelRestart() {
    let wasAwaited = plan.withLock { plan in
      defer { if plan.consumers == nil { plan.isRestartAwaited = false } }
      return plan.consumers == nil && plan.isRestartAwaited
    }
    guard wasAwaited else { return }
    for id in streamIDs { status.setStopped(id) }
    status.setEngine(.stopped)
  }
}
