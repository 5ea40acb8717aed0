import PipSink

/// How many bits per second are sent, by what the peer says of the packets that have arrived (transport-wide congestion
/// control, draft-holmer-rmcat-transport-wide-cc-extensions-01).
///
/// As in Google Congestion Control (draft-ietf-rmcat-gcc-02), loss of more than a tenth lowers the rate, loss of less than
/// a fiftieth lets it grow, and a queue on the way lowers it to 85 % of what arrives until the queue is gone. It begins
/// low and grows fast until the network is full for the first time.
struct BitRateControl {
  /// What the peer has said in some time.
  struct Feedback: Sendable {
    var packetsSent = 0
    var packetsReceived = 0
    /// The sum of the bits per second that have arrived, as reports say, and the number of reports.
    var bitsReceived = 0.0
    var reportCount = 0
    /// The sums of the bits per second of reports that tell of no loss.
    var losslessBitsSent = 0.0
    var losslessBitsReceived = 0.0

    /// The share of packets that are lost, from 0 to 1.
    fileprivate var loss: Double {
      packetsSent > 0 ? 1 - Double(min(packetsReceived, packetsSent)) / Double(packetsSent) : 0
    }

    mutating func add(_ other: Feedback) {
      packetsSent += other.packetsSent
      packetsReceived += other.packetsReceived
      bitsReceived += other.bitsReceived
      reportCount += other.reportCount
      losslessBitsSent += other.losslessBitsSent
      losslessBitsReceived += other.losslessBitsReceived
    }
  }

  /// The lowest rate, which is little even for a small picture, and the one with which it begins.
  static let (least, first) = (50_000, 500_000)
  private static let most = 100_000_000
  /// How long it takes until the rate may change, and how many packets.
  private static let (interval, packetCount) = (Duration.seconds(1), 5)

  /// The rate from now on.
  private(set) var bitRate: Int
  private let limit: Int
  private var isBeginning = true
  /// For how many seconds packets wait in a queue on their way, as far as that is known.
  private var wait = 0.0
  private var isQueueToShrink = false
  /// Whether the last change has lowered the rate. Reports still tell of what was sent before it for some time.
  private var hasFallen = false
  private var known = Feedback()
  private var since: MonotonicTime

  /// - Parameters:
  ///   - limit: the highest rate, which is kept between 50,000 and 100,000,000.
  ///   - hasFeedback: whether the peer says what arrives. The rate is `limit` where it does not.
  init(limit: Int, hasFeedback: Bool, at now: MonotonicTime = .now) {
    self.limit = max(Self.least, min(limit, Self.most))
    (bitRate, since) = (hasFeedback ? min(self.limit, Self.first) : self.limit, now)
  }

  /// Follows what the peer has said since the last call.
  mutating func update(_ feedback: Feedback, at now: MonotonicTime = .now) {
    known.add(feedback)
    let time = since.duration(to: now)
    // A network that loses a third of many packets is full, which needs no more time.
    let (loss, isFull) = (known.loss, known.loss > 1.0 / 3 && known.packetsSent >= 4 * Self.packetCount)
    guard isFull && !hasFallen || time >= Self.interval && known.packetsSent >= Self.packetCount else { return }
    let received = known.bitsReceived / Double(max(1, known.reportCount))
    // Packets that arrive more slowly than they are sent wait longer and longer. Where some are lost, this cannot be told
    // by the bits. The factor below 1 has errors of the sum forgotten in time.
    let growth = known.losslessBitsReceived > 0 ? known.losslessBitsSent / known.losslessBitsReceived - 1 : 0
    wait = max(0, min(2, 0.98 * wait + growth * (time / .seconds(1))))
    // While a queue becomes shorter, more arrives than is sent.
    if isQueueToShrink, known.losslessBitsSent > 0, abs(growth) < 0.03 { wait = 0 }
    if wait > 0.15 { isQueueToShrink = true }
    if wait < 0.05 { isQueueToShrink = false }
    var rate = Double(bitRate)
    if loss > 0.1 { rate *= 1 - loss / 2 }
    // A long queue needs an even lower rate than 85 %. While it becomes shorter, the rate stays.
    if isFull || isQueueToShrink && growth > 0 { rate = min(rate, (wait > 0.5 ? 0.6 : 0.85) * received) }
    if loss > 0.02 || isQueueToShrink {
      isBeginning = false
    } else {
      rate *= isBeginning ? 1.5 : bitRate < Self.first / 2 ? 1.2 : 1.08
    }
    hasFallen = rate < Double(bitRate)
    bitRate = max(Self.least, Int(min(rate, Double(limit))))
    (known, since) = (Feedback(), now)
  }
}
