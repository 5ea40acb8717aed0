import Foundation
import Testing

@testable import PipSink

@Suite struct PictureInPictureStateTests {
  /// The transitions of the documented diagram. They are written here independently of the table in the code.
  private static let drawn: [String: [String: String]] = [
    "Uninitialized": ["init()": "Initializing"],
    "Initializing": ["Init Success": "Initialized", "Init Failed": "Error"],
    "Initialized": ["enable()": "PIPEnabled", "enableWhenBackground()": "BackgroundPIP", "uninit()": "Uninitialized"],
    "PIPEnabled": ["User Triggers PIP": "PIPActive"],
    "PIPActive": ["User Exits PIP": "PIPEnabled", "System Minimizes": "AppMinimized"],
    "BackgroundPIP": ["App Goes Background": "PIPActive", "cancelBackground()": "Initialized"],
    "AppMinimized": ["User Clicks PIP": "PIPActive", "User Closes PIP": "Initialized"],
    "Error": ["Retry": "Uninitialized"],
  ]

  /// Makes a state machine and brings it to the given state by the shortest sequence of transitions.
  private func machine(in state: PictureInPictureState) throws -> PictureInPictureStateMachine {
    var ways: [PictureInPictureState: [PictureInPictureTrigger]] = [.uninitialized: []]
    while ways[state] == nil {
      for transition in PictureInPictureStateMachine.transitions where ways[transition.to] == nil {
        if let way = ways[transition.from] { ways[transition.to] = way + [transition.trigger] }
      }
    }
    var machine = PictureInPictureStateMachine()
    for trigger in ways[state] ?? [] { try machine.apply(trigger) }
    return machine
  }

  @Test(arguments: PictureInPictureState.allCases)
  func everyArrowThatIsDrawnIsTakenAndEveryOtherRefused(state: PictureInPictureState) throws {
    for trigger in PictureInPictureTrigger.allCases {
      var machine = try machine(in: state)
      #expect(machine.state == state)
      if let next = Self.drawn[state.rawValue]?[trigger.rawValue] {
        try machine.apply(trigger)
        #expect(machine.state.rawValue == next)
      } else {
        #expect(throws: PipSinkError.pictureInPicture(.illegalTransition(state: state, trigger: trigger.rawValue))) {
          try machine.apply(trigger)
        }
        #expect(machine.state == state)
      }
    }
  }

  @Test func theDocumentedDiagramIsTheTable() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let document = try String(contentsOf: root.appendingPathComponent("docs/picture-in-picture.md"), encoding: .utf8)
    let arrows = PictureInPictureStateMachine.transitions.map { transition in
      "    \(transition.from.rawValue) --> \(transition.to.rawValue): \(transition.trigger.rawValue)\n"
    }
    let diagram = "stateDiagram-v2\n    [*] --> \(PictureInPictureState.uninitialized.rawValue)\n" + arrows.joined()
    #expect(document.contains(diagram + "```"))
  }
}
