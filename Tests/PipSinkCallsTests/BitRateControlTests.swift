import Testing

@testable import PipSink
@testable import PipSinkCalls

/// The bit rate of what is sent, by what the peer says of the packets that have arrived. The network of these tests is
/// computed.
@Suite struct BitRateControlTests {
  /// A network that carries so many bits a second, with a queue in front of it.
  private struct Network {
    var capacity: Double
    /// How many bits wait at most.
    let queueLimit: Double
    /// The share of packets that are lost by chance.
    var loss = 0.0
    private(set) var queue = 0.0
    /// Parts of packets that are not whole yet.
    private var (sentPart, receivedPart) = (0.0, 0.0)
    var now = MonotonicTime.now

    init(_ capacity: Double, queue seconds: Double = 0) {
      (self.capacity, queueLimit) = (capacity, capacity * seconds)
    }

    private mutating func wholePackets(_ count: Double, _ part: WritableKeyPath<Self, Double>) -> Int {
      let sum = count + self[keyPath: part]
      self[keyPath: part] = sum - sum.rounded(.down)
      return Int(sum)
    }

    /// A quarter of a second passes, in which an encoder makes as many bits as it may, or fewer.
    mutating func pass(_ control: inout BitRateControl, atMost limit: Double = .infinity) -> Double {
      let step = 0.25
      now = now.advanced(by: .seconds(step))
      let sent = min(Double(control.bitRate), limit) * step
      let carried = min(queue + sent, capacity * step)
      let rest = queue + sent - carried
      queue = min(rest, queueLimit)
      let share = min(1, (rest - queue) / sent + loss)
      var feedback = BitRateControl.Feedback()
      feedback.packetsSent = wholePackets(sent / 9600, \.sentPart)
      feedback.packetsReceived = wholePackets(sent / 9600 * (1 - share), \.receivedPart)
      (feedback.bitsReceived, feedback.reportCount) = (carried / step * (1 - loss), 1)
      if share == 0 { (feedback.losslessBitsSent, feedback.losslessBitsReceived) = (sent / step, carried / step) }
      control.update(feedback, at: now)
      return carried / step
    }
  }

  private func passSeconds(
    _ count: Int, _ network: inout Network, _ control: inout BitRateControl, atMost limit: Double = .infinity
  ) -> (carried: Double, delay: Double) {
    var (carried, delay) = (0.0, 0.0)
    for _ in 0..<count * 4 {
      carried += network.pass(&control, atMost: limit)
      delay = max(delay, network.queue / network.capacity)
    }
    return (carried / Double(count * 4), delay)
  }

  @Test func itBeginsLowAndGrowsInSecondsWhereTheNetworkCarriesIt() {
    var control = BitRateControl(limit: 1_500_000, hasFeedback: true)
    var network = Network(100_000_000)
    #expect(control.bitRate == 500_000)
    _ = passSeconds(3, &network, &control)
    #expect(control.bitRate == 1_500_000)
    _ = passSeconds(10, &network, &control)
    #expect(control.bitRate == 1_500_000, "the limit is kept")
  }

  /// Routers drop what is too much, or let it wait, for longer than anybody wants to wait in a call.
  @Test(arguments: [150_000, 400_000, 1_000_000], [0, 0.2, 2])
  func itFindsWhatANetworkCarriesAndLetsLittleWait(capacity: Double, queue: Double) {
    var control = BitRateControl(limit: 5_000_000, hasFeedback: true)
    var network = Network(capacity, queue: queue)
    _ = passSeconds(30, &network, &control)
    let (carried, delay) = passSeconds(120, &network, &control)
    #expect(carried > 0.9 * capacity && delay < 0.35, "\(carried) \(delay)")
    #expect(Double(control.bitRate) < 1.3 * capacity)
  }

  @Test func aNetworkThatBecomesNarrowIsFollowedAtOnceAndAWiderOneAgain() {
    var control = BitRateControl(limit: 2_000_000, hasFeedback: true)
    var network = Network(10_000_000)
    _ = passSeconds(10, &network, &control)
    #expect(control.bitRate == 2_000_000)
    network.capacity = 300_000
    _ = passSeconds(1, &network, &control)
    #expect(control.bitRate < 300_000)
    network.capacity = 10_000_000
    _ = passSeconds(30, &network, &control)
    #expect(control.bitRate == 2_000_000)
  }

  /// A mobile network loses some packets however few there are.
  @Test(arguments: [0.03, 0.05, 0.09])
  func someLossKeepsTheRate(loss: Double) {
    var control = BitRateControl(limit: 1_500_000, hasFeedback: true)
    var network = Network(10_000_000)
    _ = passSeconds(5, &network, &control)
    network.loss = loss
    _ = passSeconds(60, &network, &control)
    #expect(control.bitRate == 1_500_000)
  }

  /// A picture that stands still takes few bits.
  @Test func aPictureThatTakesLessThanItMayDoesNotLowerTheRate() {
    var control = BitRateControl(limit: 1_500_000, hasFeedback: true)
    var network = Network(1_600_000, queue: 1)
    _ = passSeconds(60, &network, &control, atMost: 80_000)
    #expect(control.bitRate == 1_500_000)
  }

  @Test func fewPacketsSayNothing() {
    var control = BitRateControl(limit: 1_500_000, hasFeedback: true)
    let now = MonotonicTime.now.advanced(by: .seconds(5))
    control.update(.init(packetsSent: 4, packetsReceived: 0, reportCount: 1), at: now)
    #expect(control.bitRate == 500_000)
    control.update(.init(packetsSent: 1, packetsReceived: 0, reportCount: 1), at: now)
    #expect(control.bitRate == 250_000)
  }

  @Test func withoutFeedbackTheRateIsTheLimitWhichHasBounds() {
    #expect(BitRateControl(limit: 1_500_000, hasFeedback: false).bitRate == 1_500_000)
    #expect(BitRateControl(limit: 1, hasFeedback: false).bitRate == 50_000)
    #expect(BitRateControl(limit: .max, hasFeedback: false).bitRate == 100_000_000)
    #expect(BitRateControl(limit: 1, hasFeedback: true).bitRate == 50_000)
  }
}
