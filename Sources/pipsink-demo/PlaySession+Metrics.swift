import PipSink

/// What a run tells of itself while it goes on.
extension PlaySession {
  /// Writes the file anew, whole.
  func writeMetrics() throws(DemoError) {
    guard let path = command.metrics else { return }
    let text = PrometheusText(session.summaries.map(\.statistics), process: .current).text
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
