import CGStreamer
import Logging

/// Sends GStreamer's debug log to swift-log, with the label `gstreamer.CATEGORY`, instead of to standard error.
///
/// Errors, warnings, infos and debug messages keep their level. What GStreamer says of features that an element lacks
/// (its level FIXME, between warnings and infos) becomes `notice`, and everything finer than debug becomes `trace`.
/// Messages are logged on GStreamer's threads, which wait until the log handler returns.
public enum GStreamerLog {
  static let labelPrefix = "gstreamer."

  /// Makes and keeps the loggers.
  private struct Bridge {
    let makeLogger: @Sendable (_ label: String) -> Logger
    /// The loggers by category.
    var loggers: [String: Logger] = [:]
  }

  private static let bridge = Locked<Bridge?>(nil)
  /// Whether GStreamer's own log function was removed. Its lock is held during ``install(levels:makeLogger:)`` and
  /// ``remove()``, while GStreamer may log.
  private static let hasReplaced = Locked(false)

  /// Takes over GStreamer's log from now on, in the whole process. A second call replaces levels and loggers.
  ///
  /// - Parameters:
  ///   - levels: what GStreamer logs, by the rules whose label begins with `gstreamer.`. Without it, `GST_DEBUG`
  ///     decides. In any case the loggers' own levels apply as well.
  ///   - makeLogger: called once for each label.
  /// - Throws: ``PipSinkError/System/gstreamerUnavailable(reason:)``.
  public static func install(
    levels: LogLevels? = nil, makeLogger: @escaping @Sendable (_ label: String) -> Logger = { Logger(label: $0) }
  ) throws(PipSinkError) {
    try PipSink.initialize()
    hasReplaced.withLock { hasReplaced in
      let isFirst = bridge.exchange(Bridge(makeLogger: makeLogger)) == nil
      guard isFirst else { return }
      hasReplaced = gst_debug_remove_log_function(gst_debug_log_default) > 0
      gst_debug_add_log_function(receive, nil, nil)
    }
    for rule in levels?.rules ?? [] where rule.pattern.hasPrefix(labelPrefix) {
      gst_debug_set_threshold_for_name(String(rule.pattern.dropFirst(labelPrefix.count)), threshold(for: rule.level))
    }
  }

  /// Gives the log back to GStreamer. The levels that were set remain.
  package static func remove() {
    hasReplaced.withLock { hasReplaced in
      gst_debug_remove_log_function(receive)
      if hasReplaced { gst_debug_add_log_function(gst_debug_log_default, nil, nil) }
      hasReplaced = false
      bridge.withLock { $0 = nil }
    }
  }

  /// The log function. It is one constant, since GStreamer finds the function to remove by its address.
  private static let receive: GstLogFunction = { category, level, file, function, line, object, message, _ in
    guard let name = gst_debug_category_get_name(category), let level = GStreamerLog.level(of: level),
      let logger = GStreamerLog.logger(of: String(cString: name)), logger.logLevel <= level,
      let text = gst_debug_message_get(message)
    else { return }
    var metadata: Logger.Metadata?
    if let object, let description = String(taking: pipsink_object_description(object)) {
      metadata = ["object": "\(description)"]
    }
    logger.log(
      level: level, "\(String(cString: text))", metadata: metadata, source: "gstreamer",
      file: file.map { String(cString: $0) } ?? "", function: function.map { String(cString: $0) } ?? "",
      line: UInt(max(0, line)))
  }

  /// The logger for a category; nil when the log has just been given back.
  private static func logger(of category: String) -> Logger? {
    let (known, makeLogger) = bridge.withLock { ($0?.loggers[category], $0?.makeLogger) }
    if let known { return known }
    guard let made = makeLogger.map({ Logger(visible: $0(labelPrefix + category)) }) else { return nil }
    bridge.withLock { $0?.loggers[category] = made }
    return made
  }

  /// GStreamer's levels and their counterparts in swift-log, without GStreamer's levels that are finer than trace.
  private static let levels: [(gst: GstDebugLevel, level: Logger.Level)] = [
    (GST_LEVEL_ERROR, .error), (GST_LEVEL_WARNING, .warning), (GST_LEVEL_FIXME, .notice), (GST_LEVEL_INFO, .info),
    (GST_LEVEL_DEBUG, .debug), (GST_LEVEL_TRACE, .trace),
  ]

  private static func level(of gst: GstDebugLevel) -> Logger.Level? {
    gst == GST_LEVEL_NONE ? nil : levels.first { $0.gst == gst }?.level ?? .trace
  }

  /// The threshold for a level. GStreamer has no level above error.
  private static func threshold(for level: Logger.Level) -> GstDebugLevel {
    levels.first { $0.level == level }?.gst ?? GST_LEVEL_ERROR
  }
}
