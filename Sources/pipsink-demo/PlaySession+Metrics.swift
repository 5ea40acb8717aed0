import PipSink

/// What a run tells of itself while it goes on.
extension PlaySession {
  /// - Parameter infos: what the engine knows, where it does not know it any more.
  func renderStatistics(_ infos: [StreamID: StreamInfo]? = nil) -> [RenderStatistics] {
    router.streamIDs.compactMap { id in
      router.renderStatistics(
        of: id, info: infos?[id] ?? engine.info(of: id), processing: chains[id]?.statistics)
    }
  }

  /// Writes the file anew, whole.
  func writeMetrics() throws(DemoError) {
    guard let path = command.metrics else { return }
    let text = PrometheusText(renderStatistics(), process: .current).text
    do throws(OutputFileError) {
      try OutputFile.write(text.utf8, to: path)
    } catch {
      throw DemoError(.failed, "the metrics file \"\(path)\" cannot be written: \(error)")
    }
  }

  /// The file every second. What hinders it is reported once.
  func metricsTimer() -> Task<Void, Never> {
    Task {
      while (try? await Task.sleep(for: .seconds(1))) != nil {
        do throws(DemoError) {
          try writeMetrics()
        } catch {
          return report(error)
        }
      }
    }
  }
}
