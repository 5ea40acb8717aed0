import Testing

@testable import PipSink

@Suite struct LayoutTests {
  @Test(
    arguments: [
      (1, 1, 1), (2, 2, 1), (3, 2, 2), (4, 2, 2), (5, 3, 2), (6, 3, 2), (9, 3, 3), (12, 4, 3),
    ])
  func aGridShowsItsTilesAsLargeAsItCan(grid: (count: Int, columns: Int, rows: Int)) {
    let rectangles = GridLayout.rectangles(count: grid.count, in: .init(width: 1920, height: 1080))
    #expect(rectangles.count == grid.count)
    #expect(Set(rectangles.map(\.y)).count == grid.rows)
    #expect(rectangles.filter { $0.y == 0 }.count == grid.columns)
  }

  @Test func aTallSurfaceHasItsTilesOneAboveTheOther() {
    let rectangles = GridLayout.rectangles(count: 3, in: .init(width: 400, height: 900))
    #expect(rectangles.map(\.x) == [0, 0, 0])
    #expect(rectangles.map(\.y) == [0, 300, 600])
  }

  @Test func theShapeOfThePicturesDecidesToo() {
    let size = PictureSize(width: 1920, height: 1080)
    let tall = GridLayout.rectangles(count: 3, in: size, aspectRatio: 9.0 / 16)
    #expect(tall.map(\.x) == [0, 640, 1280] && tall.allSatisfy { $0.y == 0 && $0.height == 1080 })
    let wide = GridLayout.rectangles(count: 3, in: size, aspectRatio: 8)
    #expect(wide.map(\.y) == [0, 360, 720] && wide.allSatisfy { $0.width == 1920 })
  }

  @Test func aLastRowThatLacksSeveralTilesIsInTheMiddleToo() {
    let rectangles = GridLayout.rectangles(count: 7, in: .init(width: 900, height: 900), aspectRatio: 1)
    #expect(rectangles.map(\.x) == [0, 300, 600, 0, 300, 600, 300])
    let two = GridLayout.rectangles(count: 8, in: .init(width: 900, height: 900), aspectRatio: 1)
    #expect(two.suffix(2).map(\.x) == [150, 450])
  }

  @Test func anAreaWithoutTilesIsAllGap() {
    #expect(
      GridLayout.gaps(beside: [], in: .init(width: 32, height: 18)) == [PictureRect(x: 0, y: 0, width: 32, height: 18)])
  }

  @Test(arguments: [PictureSize(width: 0, height: 10), PictureSize(width: 10, height: 0)])
  func aSurfaceWithoutASizeHasNoTiles(size: PictureSize) {
    #expect(GridLayout.rectangles(count: 3, in: size).isEmpty)
  }

  @Test func tilesFillTheSurfaceWithoutOverlap() {
    for count in 1...20 {
      for size in [PictureSize(width: 1279, height: 719), .init(width: 333, height: 777), .init(width: 7, height: 5)] {
        let rectangles = GridLayout.rectangles(count: count, in: size)
        for (index, rectangle) in rectangles.enumerated() {
          #expect(rectangle.x >= 0 && rectangle.y >= 0 && rectangle.width >= 0 && rectangle.height >= 0)
          #expect(rectangle.x + rectangle.width <= size.width && rectangle.y + rectangle.height <= size.height)
          for other in rectangles[..<index] {
            let isApart =
              rectangle.x >= other.x + other.width || other.x >= rectangle.x + rectangle.width
              || rectangle.y >= other.y + other.height || other.y >= rectangle.y + rectangle.height
            #expect(isApart, "\(rectangle) and \(other) of \(count) in \(size)")
          }
        }
      }
    }
    #expect(GridLayout.rectangles(count: 0, in: .init(width: 10, height: 10)).isEmpty)
  }

  @Test func aLastRowThatIsNotFullIsInTheMiddle() {
    let rectangles = GridLayout.rectangles(count: 3, in: .init(width: 800, height: 450))
    #expect(rectangles[2] == PictureRect(x: 200, y: 225, width: 400, height: 225))
  }

  @Test func aSplitGivesTheLocalPictureAllOrHalf() {
    let size = PictureSize(width: 641, height: 360)
    let alone = SplitLayout.rectangles(in: size, showsRemote: false)
    #expect(alone.local == PictureRect(x: 0, y: 0, width: 641, height: 360))
    #expect(alone.remote == nil)
    let both = SplitLayout.rectangles(in: size, showsRemote: true)
    #expect(both.local == PictureRect(x: 0, y: 0, width: 320, height: 360))
    #expect(both.remote == PictureRect(x: 320, y: 0, width: 321, height: 360))
  }
}
