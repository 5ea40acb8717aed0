/// Restarts of the engine's own pipeline when all its streams have failed.
extension VideoEngine {
  /// What is to run, from a start by the engine's owner until the stop.
  struct Plan {
    /// Returns the consumers of the streams' frames; nil when nothing is to run.
    private(set) var consumers: (@Sendable (StreamID) -> any SampleBufferConsumer)?
    /// Counts starts and stops. What was planned under an older number is obsolete.
    private(set) var number = 0
    /// The number of restarts since the pipeline last played for long enough.
    private var attempt = 0
    /// Whether the pipeline has failed and waits for its next start.
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

    /// - Returns: the number of the next restart and the pause before it; nil when there is no further restart.
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
  /// The number of blocked pipelines from which on no other is started, since each keeps threads and memory.
  private static let blockedLimit = 3

  /// Plans a restart after all streams of a run have failed. Called on the run's thread.
  ///
  /// - Parameter number: the number of the plan that the run belongs to.
  /// - Returns: whether the pipeline is restarted. If so, its streams are `reconnecting`.
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
        // The run stops at once, since the next start may need the device that it uses.
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

  /// Cancels a planned restart after the engine was stopped.
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
